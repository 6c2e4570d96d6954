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
  private int shippedCount;

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
    int known = locate.generation() == generation ? locate.count() : 0;
    if (known < 0 || known > log.count()) {
      throw new IOException("there are " + log.count() + " records: " + locate);
    }
    if (!isLarge(log.count() - known)) {
      // The asker replaces its table if the generation is new to it, else appends.
      return new Table(generation, new byte[0], log.records(known), executors);
    }
    if (isLarge(log.count() - shippedCount)) {
      shipped.add(broadcasts.ship(log.records(0)));
      shippedCount = log.count();
    }
    return new Table(generation, shipped.getLast().handle(), log.records(shippedCount), executors);
  }

  private boolean isLarge(int records) {
    return (long) records * LocationLog.RECORD_BYTES >= minBroadcastBytes;
  }

  /**
   * No broadcast is given out any more.
   *
   * @return those that were, which the caller destroys
   */
  List<Broadcasts.Shipped> withdrawBroadcasts() {
    List<Broadcasts.Shipped> withdrawn = List.copyOf(shipped);
    shipped.clear();
    shippedCount = 0;
    return withdrawn;
  }
}
