package dev.sluice.spark.locate;

import dev.sluice.blocks.MapOutputLocation;
import java.util.List;
import java.util.Map;

/**
 * What executors and the driver's {@link LocationDirectory} say to each other. On the wire all of
 * it is {@code byte[]} by {@link DirectoryCodec}.
 */
public sealed interface DirectoryMessage {

  /**
   * An executor serves map outputs; the answer is {@link Ack}.
   *
   * @param endpoint the executor, which thereby is known
   * @param outputs what has changed since the last time, in order; may be empty
   */
  record Publish(ExecutorEndpoint endpoint, List<Published> outputs) implements DirectoryMessage {}

  /**
   * One map output that can be READ from now on.
   *
   * @param location null for: all that the executor has published of the shuffle is withdrawn
   */
  record Published(int shuffleId, MapOutputLocation location) {}

  /**
   * An executor wants what it does not know yet of a shuffle; the answer is {@link Table}.
   *
   * @param generation the table that it knows; 0 for none
   * @param count how many of that table's records it knows
   * @param events how many of the executors' events it knows
   */
  record Locate(int shuffleId, long generation, int count, int events)
      implements DirectoryMessage {}

  /**
   * A shuffle's locations.
   *
   * @param generation differs from that of the request where the table is to be replaced
   * @param broadcast handle of a broadcast that holds the first records; empty for none
   * @param records records of {@link LocationLog} that follow those known, or the broadcast's
   * @param events executors' events that follow those known
   */
  record Table(long generation, byte[] broadcast, byte[] records, List<Event> events)
      implements DirectoryMessage {}

  /** An executor came, or was lost. A record of a location names its executor's event. */
  record Event(ExecutorEndpoint endpoint, boolean lost) {}

  /**
   * What an executor has counted since its start; the answer is {@link Ack}.
   *
   * @param sequence of two reports the one with the larger number is newer
   * @param device provider and device in use
   */
  record Report(String executorId, long sequence, String device, Map<String, Long> counters)
      implements DirectoryMessage {}

  /** An executor cannot do what was asked for; the answer is {@link Ack}. */
  record Failure(String executorId, String reason) implements DirectoryMessage {}

  /** Done. */
  record Ack() implements DirectoryMessage {}
}
