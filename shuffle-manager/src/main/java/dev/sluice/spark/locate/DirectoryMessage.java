package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.HashMap;
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
   * @param location null for: all that the executor has published of the shuffle is withdrawn
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
   * An executor wants what it does not know yet of a shuffle; the answer is {@link Table}.
   *
   * @param generation the table that it knows; 0 for none
   * @param bytes of that table's records that it knows
   * @param executors the version of the executors' table that it knows; 0 for none
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
   * <p>A generation is one of the driver's tables of a shuffle, to which records are only ever
   * added: a new one begins whenever records are taken away. It is not an epoch of the shuffle on a
   * peer, within which the keys in the records are valid: a lost executor ends the generations of
   * all tables that name it, and no epoch.
   *
   * @param generation differs from that of the request where the table is to be replaced
   * @param broadcast handle of a broadcast that holds the first records; empty for none
   * @param records records of {@link LocationLog} that follow those known, or the broadcast's
   * @param executors what is new of them
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
   * The executors that serve map outputs, to someone who knows an older version of their table.
   *
   * @param version of the table; counts executors that came or were lost
   * @param arrived those that came since
   * @param staying numbers of those that were there then and still are; null for all
   */
  record LiveExecutors(int version, List<Arrival> arrived, List<Integer> staying) {
    private void write(Output output) {
      output.writeInt(version);
      Fields.writeAll(output, arrived, Arrival::write);
      output.writeBoolean(staying != null);
      if (staying != null) {
        Fields.writeAll(output, staying, (number, to) -> to.writeInt(number));
      }
    }

    private static LiveExecutors read(Input input) {
      return new LiveExecutors(
          input.readInt(),
          Fields.readAll(input, 1, Arrival::read),
          input.readBoolean() ? Fields.readAll(input, 1, Input::readInt) : null);
    }
  }

  /**
   * An executor came.
   *
   * @param number what records of its locations name, and no other executor has
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
   * What an executor has counted since its start; the answer is {@link Over}.
   *
   * @param sequence of two reports the one with the larger number is newer
   * @param device provider and device in use
   * @param shuffles of which it holds map outputs
   */
  record Report(
      String executorId,
      long sequence,
      String device,
      Map<String, Long> counters,
      List<Integer> shuffles)
      implements DirectoryMessage {
    /** Of an executor that holds none. */
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

  /** Shuffles that an executor holds map outputs of, and that nobody can read any more. */
  record Over(List<Integer> shuffles) implements DirectoryMessage {
    void write(Output output) {
      Fields.writeAll(output, shuffles, (shuffleId, to) -> to.writeInt(shuffleId));
    }

    static Over read(Input input) {
      return new Over(Fields.readAll(input, 1, Fields::readShuffleId));
    }
  }

  /**
   * An executor has not got what another one wrote, and wants to know who has that by now; the
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
   * Who has what an executor wrote.
   *
   * @param node the block server of its node; null where that has nothing of it
   * @param gone whether Spark has removed the executor, so that it need not be asked
   */
  record Found(PeerAddress node, boolean gone) implements DirectoryMessage {
    void write(Output output) {
      output.writeBoolean(gone);
      output.writeBoolean(node != null);
      if (node != null) {
        ExecutorEndpoint.write(output, node);
      }
    }

    static Found read(Input input) {
      boolean gone = input.readBoolean();
      return new Found(input.readBoolean() ? ExecutorEndpoint.readPeer(input) : null, gone);
    }
  }

  /**
   * A node's block server has not answered an executor; the answer is {@link Ack}, when the driver
   * has asked it as well and knows what is lost.
   */
  record Silent(PeerAddress node) implements DirectoryMessage {
    void write(Output output) {
      ExecutorEndpoint.write(output, node);
    }

    static Silent read(Input input) {
      return new Silent(ExecutorEndpoint.readPeer(input));
    }
  }

  /** An executor cannot do what was asked for; the answer is {@link Ack}. */
  record Failure(String executorId, String reason) implements DirectoryMessage {
    void write(Output output) {
      Fields.writeString(output, executorId);
      Fields.writeString(output, reason);
    }

    static Failure read(Input input) {
      return new Failure(Fields.readString(input), Fields.readString(input));
    }
  }

  /** Done. */
  record Ack() implements DirectoryMessage {
    void write(Output output) {}

    static Ack read(Input input) {
      return new Ack();
    }
  }
}
