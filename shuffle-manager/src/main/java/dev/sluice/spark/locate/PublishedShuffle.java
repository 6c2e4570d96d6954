package dev.sluice.spark.locate;

import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** One shuffle in the {@link LocationDirectory}, under whose lock it is used. */
final class PublishedShuffle {
  private final LocationLog log = new LocationLog();
  private final Broadcasts broadcasts;
  private final long minBroadcastBytes;

  /** Executors may still be fetching an older one when a newer is made. */
  private final List<Broadcasts.Shipped> shipped = new ArrayList<>();

  private long generation;
  private int shippedBytes;

  PublishedShuffle(long generation, Broadcasts broadcasts, long minBroadcastBytes) {
    this.generation = generation;
    this.broadcasts = broadcasts;
    this.minBroadcastBytes = minBroadcastBytes;
  }

  LocationLog log() {
    return log;
  }

  /**
   * Records were removed: what executors know of the log is void.
   *
   * @return broadcasts that the caller destroys
   */
  List<Broadcasts.Shipped> replaced(long newGeneration) {
    generation = newGeneration;
    return withdrawBroadcasts();
  }

  /** What follows the records that the asker knows. */
  Table table(Locate locate, LiveExecutors executors) throws IOException {
    int known = locate.generation() == generation ? locate.bytes() : 0;
    if (known < 0 || known > log.bytes()) {
      throw new IOException("there are records of " + log.bytes() + " bytes: " + locate);
    }
    if (log.bytes() - known < minBroadcastBytes) {
      // The asker replaces its table if the generation is new to it, else appends.
      return new Table(generation, new byte[0], log.records(known), executors);
    }
    if (log.bytes() - shippedBytes >= minBroadcastBytes) {
      shipped.add(broadcasts.ship(log.records(0)));
      shippedBytes = log.bytes();
    }
    return new Table(generation, shipped.getLast().handle(), log.records(shippedBytes), executors);
  }

  /**
   * No broadcast is given out any more.
   *
   * @return those that were, which the caller destroys
   */
  List<Broadcasts.Shipped> withdrawBroadcasts() {
    List<Broadcasts.Shipped> withdrawn = List.copyOf(shipped);
    shipped.clear();
    shippedBytes = 0;
    return withdrawn;
  }
}
