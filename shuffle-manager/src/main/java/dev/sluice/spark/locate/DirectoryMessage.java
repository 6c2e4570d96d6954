// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Messages between executors and the driver's {@link LocationDirectory}. {@link DirectoryCodec}
 * turns them into {@code byte[]} for the wire; a new one needs an id there. Each {@code read} must
 * take the fields in the order in which {@code write} gives them.
 */
public sealed interface DirectoryMessage {

  /**
   * Announces map outputs of an executor; the answer is {@link Ack}.
   *
   * @param endpoint the executor, which the directory knows from then on
   * @param outputs changes since the last message, in order; may be empty
   */
  record Publish(ExecutorEndpoint endpoint, List<Published> outputs) implements DirectoryMessage {
    void write(Output output) {
      endpoint.write(output);
      Fields.writeAll(output, outputs, Published::write);
    }

    static Publish read(Input input) {
      return new Publish(ExecutorEndpoint.read(input), Fields.readAll(input, 1, Published::read));
    }
  }

  /**
   * One map output that can be READ from now on.
   *
   * @param location null to withdraw all map outputs of the shuffle that the executor has published
   */
  record Published(int shuffleId, MapOutputLocation location) {
    private void write(Output output) {
      output.writeInt(shuffleId);
      Fields.writeLocation(output, location);
    }

    private static Published read(Input input) {
      return new Published(Fields.readShuffleId(input), Fields.readLocation(input));
    }
  }

  /**
   * Asks for the locations of a shuffle that an executor does not know yet; the answer is {@link
   * Table}.
   *
   * @param generation generation of the table that it knows; 0 for none
   * @param bytes bytes of that table's records that it knows
   * @param executors version of the executors' table that it knows; 0 for none
   */
  record Locate(int shuffleId, long generation, int bytes, int executors)
      implements DirectoryMessage {
    void write(Output output) {
      output.writeInt(shuffleId);
      output.writeLong(generation);
      output.writeInt(bytes);
      output.writeInt(executors);
    }

    static Locate read(Input input) {
      return new Locate(input.readInt(), input.readLong(), input.readInt(), input.readInt());
    }
  }

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
      implements DirectoryMessage {
    void write(Output output) {
      output.writeLong(generation);
      Fields.writeBytes(output, broadcast);
      Fields.writeBytes(output, records);
      executors.write(output);
    }

    static Table read(Input input) {
      return new Table(
          input.readLong(),
          Fields.readBytes(input),
          Fields.readBytes(input),
          LiveExecutors.read(input));
    }
  }

  /**
   * Executors that serve map outputs, as changes since the version of the table that the asker
   * knows.
   *
   * @param version version of the table; counts executors that arrived or were lost
   * @param arrived executors that arrived since
   * @param staying numbers of the known executors that are still there; empty for all
   */
  record LiveExecutors(int version, List<Arrival> arrived, Optional<List<Integer>> staying) {
    private void write(Output output) {
      output.writeInt(version);
      Fields.writeAll(output, arrived, Arrival::write);
      output.writeBoolean(staying.isPresent());
      staying.ifPresent(
          numbers -> Fields.writeAll(output, numbers, (number, to) -> to.writeInt(number)));
    }

    private static LiveExecutors read(Input input) {
      return new LiveExecutors(
          input.readInt(),
          Fields.readAll(input, 1, Arrival::read),
          input.readBoolean()
              ? Optional.of(Fields.readAll(input, 1, Input::readInt))
              : Optional.empty());
    }
  }

  /**
   * An executor that arrived.
   *
   * @param number number in the records of its locations, which no other executor has
   */
  record Arrival(int number, ExecutorEndpoint endpoint) {
    private void write(Output output) {
      output.writeInt(number);
      endpoint.write(output);
    }

    private static Arrival read(Input input) {
      return new Arrival(input.readInt(), ExecutorEndpoint.read(input));
    }
  }

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
      List<Integer> shuffles)
      implements DirectoryMessage {
    /** Creates a report of an executor that holds no map outputs. */
    public Report(String executorId, long sequence, String device, Map<String, Long> counters) {
      this(executorId, sequence, device, counters, List.of());
    }

    void write(Output output) {
      Fields.writeString(output, executorId);
      output.writeLong(sequence);
      Fields.writeString(output, device);
      Fields.writeCount(output, counters.size());
      counters.forEach(
          (name, value) -> {
            Fields.writeString(output, name);
            output.writeLong(value);
          });
      Fields.writeAll(output, shuffles, (shuffleId, to) -> to.writeInt(shuffleId));
    }

    static Report read(Input input) {
      String executorId = Fields.readString(input);
      long sequence = input.readLong();
      String device = Fields.readString(input);
      Map<String, Long> counters = new HashMap<>();
      for (int left = Fields.readCount(input, 1 + Long.BYTES); left > 0; left--) {
        counters.put(Fields.readString(input), input.readLong());
      }
      return new Report(
          executorId, sequence, device, counters, Fields.readAll(input, 1, Fields::readShuffleId));
    }
  }

  /** Shuffles that are over although the executor still holds map outputs of them. */
  record Over(List<Integer> shuffles) implements DirectoryMessage {
    void write(Output output) {
      Fields.writeAll(output, shuffles, (shuffleId, to) -> to.writeInt(shuffleId));
    }

    static Over read(Input input) {
      return new Over(Fields.readAll(input, 1, Fields::readShuffleId));
    }
  }

  /**
   * Asks where the map outputs of another executor are now, after they could not be fetched; the
   * answer is {@link Found}.
   */
  record Find(String executorId) implements DirectoryMessage {
    void write(Output output) {
      Fields.writeString(output, executorId);
    }

    static Find read(Input input) {
      return new Find(Fields.readString(input));
    }
  }

  /**
   * Place of an executor's map outputs.
   *
   * @param gone true if Spark has removed the executor, so that asking it is useless
   * @param node daemon of its node; empty if it has none of them
   */
  record Found(boolean gone, Optional<PeerAddress> node) implements DirectoryMessage {
    void write(Output output) {
      output.writeBoolean(gone);
      output.writeBoolean(node.isPresent());
      node.ifPresent(peer -> ExecutorEndpoint.write(output, peer));
    }

    static Found read(Input input) {
      return new Found(
          input.readBoolean(),
          input.readBoolean() ? Optional.of(ExecutorEndpoint.readPeer(input)) : Optional.empty());
    }
  }

  /**
   * Reports a node daemon that has not answered an executor. The answer is {@link Ack}, sent when
   * the driver has asked the daemon as well and knows which map outputs are lost.
   */
  record Silent(PeerAddress node) implements DirectoryMessage {
    void write(Output output) {
      ExecutorEndpoint.write(output, node);
    }

    static Silent read(Input input) {
      return new Silent(ExecutorEndpoint.readPeer(input));
    }
  }

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
      int shuffleId,
      long mapId,
      String reason,
      Optional<ExecutorEndpoint> server)
      implements DirectoryMessage {
    void write(Output output) {
      Fields.writeString(output, executorId);
      output.writeInt(shuffleId);
      output.writeLong(mapId);
      Fields.writeString(output, reason);
      output.writeBoolean(server.isPresent());
      server.ifPresent(endpoint -> endpoint.write(output));
    }

    static Kept read(Input input) {
      return new Kept(
          Fields.readString(input),
          Fields.readShuffleId(input),
          input.readLong(),
          Fields.readString(input),
          input.readBoolean() ? Optional.of(ExecutorEndpoint.read(input)) : Optional.empty());
    }
  }

  /** Reports that an executor cannot run with its configuration; the answer is {@link Ack}. */
  record Failure(String executorId, String reason) implements DirectoryMessage {
    void write(Output output) {
      Fields.writeString(output, executorId);
      Fields.writeString(output, reason);
    }

    static Failure read(Input input) {
      return new Failure(Fields.readString(input), Fields.readString(input));
    }
  }

  /** Confirms a message. */
  record Ack() implements DirectoryMessage {
    void write(Output output) {}

    static Ack read(Input input) {
      return new Ack();
    }
  }
}
