package dev.sluice.spark.locate;

import dev.sluice.blocks.message.MessageCodec;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Event;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's table of where map outputs can be READ, by shuffle. {@link DirectoryEndpoint} hands
 * it the executors' messages on a thread of its own; Spark's listener and cleaner threads tell it
 * of lost executors and finished shuffles. Its broadcasts go with their shuffles, and with the
 * application.
 *
 * <p>It costs {@value LocationLog#RECORD_BYTES} bytes a map output, whatever the number of
 * partitions, and some hundred bytes an executor. Tables are logs: an executor says how much of one
 * it knows and gets the rest, so 1,000 executors that follow 100,000 maps cost the driver copies of
 * byte ranges. What is large goes by broadcast, made once and cached, as Spark ships map statuses.
 *
 * <p>The directory never says where a block is, MapStatus does: it only adds keys. A wrong or
 * missing record costs a question to the peer.
 */
public final class LocationDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(LocationDirectory.class);

  /** What fits a message for certain, whatever Spark's own limit for broadcasts is. */
  private static final long MAX_DIRECT_BYTES = MessageCodec.MAX_FRAME_BYTES / 2;

  private final Broadcasts broadcasts;
  private final long minBroadcastBytes;
  private final Consumer<Report> reports;
  private final Map<Integer, PublishedShuffle> shuffles = new HashMap<>();
  private final List<Event> events = new ArrayList<>();
  private final Map<String, Integer> executors = new HashMap<>();
  private final Set<String> failures = new HashSet<>();
  private long generations;

  /**
   * @param minBroadcastBytes records of so many bytes are shipped as broadcast
   * @param reports takes the executors' counters
   */
  public LocationDirectory(
      Broadcasts broadcasts, long minBroadcastBytes, Consumer<Report> reports) {
    this.broadcasts = broadcasts;
    this.minBroadcastBytes = Math.min(minBroadcastBytes, MAX_DIRECT_BYTES);
    this.reports = reports;
  }

  /** Answers one message. */
  public synchronized DirectoryMessage handle(DirectoryMessage message) throws IOException {
    return switch (message) {
      case Publish publish -> publish(publish);
      case Locate locate -> locate(locate);
      case Report report -> {
        reports.accept(report);
        yield new Ack();
      }
      case Failure failure -> failed(failure);
      case Ack _, Table _ -> throw new IOException("not a question: " + message);
    };
  }

  private Ack publish(Publish publish) {
    int executor = known(publish.endpoint());
    for (Published output : publish.outputs()) {
      if (output.location() == null) {
        withdraw(executor, shuffles.get(output.shuffleId()));
      } else {
        shuffles
            .computeIfAbsent(output.shuffleId(), _ -> newShuffle())
            .log()
            .append(executor, output.location());
      }
    }
    return new Ack();
  }

  private PublishedShuffle newShuffle() {
    return new PublishedShuffle(++generations, broadcasts, minBroadcastBytes);
  }

  private void withdraw(int executor, PublishedShuffle shuffle) {
    if (shuffle != null && shuffle.log().removeIf(other -> other == executor)) {
      shuffle.replaced(++generations);
    }
  }

  private int known(ExecutorEndpoint endpoint) {
    Integer number = executors.get(endpoint.executorId());
    if (number != null && events.get(number).endpoint().equals(endpoint)) {
      return number;
    }
    events.add(new Event(endpoint, false));
    executors.put(endpoint.executorId(), events.size() - 1);
    return events.size() - 1;
  }

  private Table locate(Locate locate) throws IOException {
    List<Event> news = List.copyOf(events.subList(locate.events(), events.size()));
    PublishedShuffle shuffle = shuffles.get(locate.shuffleId());
    return shuffle == null
        ? new Table(0, new byte[0], new byte[0], news)
        : shuffle.table(locate, news);
  }

  private Ack failed(Failure failure) {
    if (failures.add(failure.reason())) {
      LOG.error(
          "Executor {} cannot run the shuffle as asked (said once for all executors): {}",
          failure.executorId(),
          failure.reason());
    }
    return new Ack();
  }

  /** An executor is gone, and with it all that it had published. */
  public synchronized void executorLost(String executorId) {
    Integer number = executors.remove(executorId);
    if (number == null) {
      return;
    }
    events.add(new Event(events.get(number).endpoint(), true));
    shuffles.values().forEach(shuffle -> withdraw(number, shuffle));
  }

  /**
   * The shuffle's files are deleted. Its id may come back: what is published under it afterwards
   * opens a new generation.
   */
  public synchronized void unregister(int shuffleId) {
    PublishedShuffle shuffle = shuffles.remove(shuffleId);
    if (shuffle != null) {
      shuffle.destroyBroadcasts();
    }
  }
}
