// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.Fields.ShuffleId;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.MessageType;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Messages between executors and the driver's {@link LocationDirectory}, and their encoding. {@link
 * RpcDriverChannel} encodes questions on executors, and {@link DirectoryEndpoint} answers on the
 * driver. Spark's RPC carries only {@code byte[]}: its serializer captures the class loader before
 * the jars of {@code --jars} are added, so a message of our own class would end in
 * ClassNotFoundException.
 *
 * <p>Messages are encoded as their components, in their order. This order, ids and their classes
 * never change. Any thread; no array is changed after it is in a message.
 */
public sealed interface DirectoryMessage {
  /** The block server's messages have smaller ids, those of node daemons ids from 64 on. */
  MessageCodec CODEC =
      new MessageCodec(
          List.of(
              new MessageType<>(32, Ack.class),
              new MessageType<>(33, Publish.class),
              new MessageType<>(34, Locate.class),
              new MessageType<>(35, Table.class),
              new MessageType<>(36, Report.class),
              new MessageType<>(37, Failure.class),
              new MessageType<>(38, Over.class),
              new MessageType<>(39, Find.class),
              new MessageType<>(40, Found.class),
              new MessageType<>(41, Silent.class),
              new MessageType<>(42, Kept.class),
              new MessageType<>(43, OtherVersion.class),
              new MessageType<>(44, Started.class),
              new MessageType<>(47, Details.class)));

  /**
   * Returns the message of these bytes.
   *
   * @throws MessageException for bytes that are not a message
   */
  static DirectoryMessage decode(byte[] bytes) throws MessageException {
    return (DirectoryMessage) CODEC.decode(bytes);
  }

  /**
   * Returns the message as bytes.
   *
   * @throws MessageException if it does not fit a frame
   */
  default byte[] encode() throws MessageException {
    return CODEC.encode(this);
  }

  /**
   * Announces map outputs of an executor; the answer is {@link Ack}.
   *
   * @param endpoint the executor, which the directory knows from then on
   * @param outputs changes since the last message, in order; may be empty
   */
  record Publish(ExecutorEndpoint endpoint, List<Published> outputs) implements DirectoryMessage {}

  /**
   * One map output that can be READ from now on.
   *
   * @param location null to withdraw all map outputs of the shuffle that the executor has published
   */
  record Published(@ShuffleId int shuffleId, @Nullable MapOutputLocation location) {}

  /**
   * Asks for the locations of a shuffle that an executor does not know yet; the answer is {@link
   * Table}.
   *
   * @param generation generation of the table that it knows; 0 for none
   * @param bytes bytes of that table's records that it knows
   * @param executors version of the executors' table that it knows; 0 for none
   */
  record Locate(int shuffleId, long generation, int bytes, int executors)
      implements DirectoryMessage {}

  /**
   * A shuffle's locations.
   *
   * <p>A generation is one of the driver's tables of a shuffle. Records are only added to it; a
   * removal begins a new one. A generation is not an epoch, within which the keys of a shuffle on a
   * peer are valid: a lost executor ends the generations of all tables that name it, but no epoch.
   *
   * @param generation differs from that of the request if the table is to be replaced
   * @param broadcast handle of a broadcast with the first records; empty for none
   * @param records records of {@link LocationLog} that follow the known ones, or those of the
   *     broadcast
   * @param executors changes of the executors' table
   */
  record Table(long generation, byte[] broadcast, byte[] records, LiveExecutors executors)
      implements DirectoryMessage {}

  /**
   * Executors that serve map outputs, as changes since the version of the table that the asker
   * knows.
   *
   * @param version version of the table; counts executors that arrived or were lost
   * @param arrived executors that arrived since
   * @param staying numbers of the known executors that are still there; empty for all
   */
  record LiveExecutors(int version, List<Arrival> arrived, Optional<List<Integer>> staying) {}

  /**
   * An executor that arrived.
   *
   * @param number number in the records of its locations, which no other executor has
   */
  record Arrival(int number, ExecutorEndpoint endpoint) {}

  /**
   * Counters of an executor since its start; the answer is {@link Over}.
   *
   * @param sequence a newer report has a larger number
   * @param device provider and device in use
   * @param shuffles shuffles of which it holds map outputs
   */
  record Report(
      String executorId,
      long sequence,
      String device,
      Map<String, Long> counters,
      List<@ShuffleId Integer> shuffles)
      implements DirectoryMessage, ExecutorReport {
    /** Creates a report of an executor that holds no map outputs. */
    public Report(String executorId, long sequence, String device, Map<String, Long> counters) {
      this(executorId, sequence, device, counters, List.of());
    }
  }

  /** Message about an executor that the application's totals and the tab in Spark's UI take. */
  sealed interface ExecutorReport permits Report, Started, Details {
    String executorId();
  }

  /**
   * Describes an executor whose runtime has started; the answer is {@link Ack}. Strings are empty
   * where there is nothing to name.
   *
   * @param provider provider in use, or {@code off}
   * @param gid GID of the device's port
   * @param address host and port of the block server
   * @param reason why it is not a better provider
   */
  record Started(
      String executorId,
      String provider,
      String device,
      String gid,
      String address,
      String reason,
      MemoryLimits limits)
      implements DirectoryMessage, ExecutorReport {}

  /** Limits of an executor's memory for READs, in bytes. */
  record MemoryLimits(long registered, long staging, long buffers) {
    /** Limits of an executor that does not READ. */
    public static final MemoryLimits NONE = new MemoryLimits(0, 0, 0);
  }

  /**
   * Reports an executor's READs and fallbacks for the tab in Spark's UI; the answer is {@link Ack}.
   *
   * @param times empty for an executor that does not READ
   */
  record Details(String executorId, Optional<ReadTimes> times, PeerFallbacks fallbacks)
      implements DirectoryMessage, ExecutorReport {}

  /**
   * Times of an executor's READ requests since its start.
   *
   * @param sequence a newer report has a larger number
   * @param requests numbers of requests by time, as {@code LatencySnapshot} counts them
   * @param slowest the peers whose recent requests took longest
   */
  record ReadTimes(long sequence, List<Long> requests, List<PeerReads> slowest) {}

  /** Recent READ requests to a peer: their number and bytes, and their times in microseconds. */
  record PeerReads(PeerAddress peer, long requests, long bytes, long p50Micros, long p99Micros) {}

  /**
   * Blocks of an executor that fell back to Spark's own transfer since its start.
   *
   * @param sequence all these blocks; a newer report has a larger number
   * @param largest the pairs of peer and reason with the most blocks
   * @param otherBlocks blocks of all other pairs
   */
  record PeerFallbacks(long sequence, List<PeerBlocks> largest, long otherBlocks) {}

  /** Blocks of a peer, by its name and address, that fell back for one reason. */
  record PeerBlocks(String peer, String reason, long blocks) {}

  /** Shuffles that are over although the executor still holds map outputs of them. */
  record Over(List<@ShuffleId Integer> shuffles) implements DirectoryMessage {}

  /**
   * Asks where the map outputs of another executor are now, after they could not be fetched; the
   * answer is {@link Found}.
   */
  record Find(String executorId) implements DirectoryMessage {}

  /**
   * Place of an executor's map outputs.
   *
   * @param gone true if Spark has removed the executor, so that asking it is useless
   * @param node daemon of its node; empty if it has none of them
   */
  record Found(boolean gone, Optional<PeerAddress> node) implements DirectoryMessage {}

  /**
   * Reports a node daemon that has not answered an executor. The answer is {@link Ack}, sent when
   * the driver has asked the daemon as well and knows which map outputs are lost.
   */
  record Silent(PeerAddress node) implements DirectoryMessage {}

  /**
   * Reports a map output that ends with its executor, although Spark was told that map outputs
   * outlive their executors; the answer is {@link Ack}.
   *
   * @param reason why no node has it
   * @param server the executor's block server, which serves all its map outputs from now on; empty
   *     for none
   */
  record Kept(
      String executorId,
      @ShuffleId int shuffleId,
      long mapId,
      String reason,
      Optional<ExecutorEndpoint> server)
      implements DirectoryMessage {}

  /** Reports that an executor cannot run with its configuration; the answer is {@link Ack}. */
  record Failure(String executorId, String reason) implements DirectoryMessage {}

  /**
   * Reports an executor that runs another version of Sluice than the driver; the answer is {@link
   * Ack}.
   *
   * @param version the executor's version
   */
  record OtherVersion(String executorId, String version) implements DirectoryMessage {}

  /** Confirms a message. */
  record Ack() implements DirectoryMessage {}
}
