// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.util.List;

/**
 * Messages between a block server and its clients. {@link
 * dev.sluice.blocks.client.BlockServerClient} makes the requests on any thread and sends them;
 * {@link dev.sluice.blocks.server.BlockServer} decodes them on the transport's threads and answers
 * them. A message does not change once it is made, and its arrays are not copied. Ids, fields and
 * their order never change: a changed message gets a new id ({@link
 * NodeMessages.RegisterExecutor#VERSION}).
 */
public final class ControlMessages {
  /** Limit of map outputs in one {@link Resolve}; the answer takes 123 KB. */
  public static final int MAX_RESOLVE = 4096;

  /** Limit of pieces in one {@link Stage}: 80 KB. */
  public static final int MAX_PIECES = 4096;

  /** Limit of partitions in one {@link GetTables}; the answer takes 640 KB at most. */
  public static final int MAX_ENTRIES = 1 << 15;

  /** An eighth of each time limit is kept in reserve. */
  private static final int MARGIN = 8;

  private static final int FIRST_ID = MessageType.FIRST_ID;

  /** Also part of other protocols. */
  public static final MessageType<Refused> REFUSED =
      new MessageType<>(FIRST_ID + 2, Refused.class, Refused::write, Refused::read);

  /** These types and their successors have ids from {@link MessageType#FIRST_ID} to 31. */
  public static final List<MessageType<?>> TYPES =
      List.of(
          new MessageType<>(FIRST_ID, Connect.class, Connect::write, Connect::read),
          new MessageType<>(FIRST_ID + 1, Connected.class, Connected::write, Connected::read),
          REFUSED,
          new MessageType<>(FIRST_ID + 3, Released.class, Released::write, Released::read),
          new MessageType<>(FIRST_ID + 4, Resolve.class, Resolve::write, Resolve::read),
          new MessageType<>(FIRST_ID + 5, Resolved.class, Resolved::write, Resolved::read),
          new MessageType<>(FIRST_ID + 6, Touch.class, Touch::write, Touch::read),
          new MessageType<>(FIRST_ID + 7, StageFor.class, StageFor::write, StageFor::read),
          new MessageType<>(FIRST_ID + 8, Staged.class, Staged::write, Staged::read),
          new MessageType<>(FIRST_ID + 9, NotStaged.class, NotStaged::write, NotStaged::read),
          new MessageType<>(FIRST_ID + 10, Done.class, Done::write, Done::read),
          new MessageType<>(FIRST_ID + 11, GetTables.class, GetTables::write, GetTables::read),
          new MessageType<>(FIRST_ID + 12, Tables.class, Tables::write, Tables::read),
          new MessageType<>(FIRST_ID + 13, Addressed.class, Addressed::write, Addressed::read));

  private static final byte RESOLVE = 0;
  private static final byte GET_TABLES = 1;
  private static final byte STAGE_FOR = 2;
  private static final byte TOUCH = 3;
  private static final byte RELEASED = 4;

  private ControlMessages() {}

  /**
   * A message for one process. Another process may listen at its address by now: it refuses a
   * question and ignores a notice. Processes of version 3 ({@link NodeMessages.RegisterExecutor})
   * send the content alone.
   *
   * @param addressee the process that the sender's locations belong to
   * @param senderId id of the sender, whichever connection it uses
   */
  public record Addressed(ProcessName addressee, String senderId, Content content) {
    private void write(Output output) {
      Fields.writeProcess(output, addressee);
      Fields.writeString(output, senderId);
      switch (content) {
        case Resolve resolve -> {
          output.writeByte(RESOLVE);
          resolve.write(output);
        }
        case GetTables wanted -> {
          output.writeByte(GET_TABLES);
          wanted.write(output);
        }
        case StageFor wanted -> {
          output.writeByte(STAGE_FOR);
          wanted.write(output);
        }
        case Touch touch -> {
          output.writeByte(TOUCH);
          touch.write(output);
        }
        case Released released -> {
          output.writeByte(RELEASED);
          released.write(output);
        }
      }
    }

    private static Addressed read(Input input) {
      ProcessName addressee = Fields.readProcess(input);
      String senderId = Fields.readString(input);
      Content content =
          switch (input.readByte()) {
            case RESOLVE -> Resolve.read(input);
            case GET_TABLES -> GetTables.read(input);
            case STAGE_FOR -> StageFor.read(input);
            case TOUCH -> Touch.read(input);
            case RELEASED -> Released.read(input);
            default -> throw new KryoException("unknown kind of message to a block server");
          };
      return new Addressed(addressee, senderId, content);
    }
  }

  /** Content that has a meaning for one process only. */
  public sealed interface Content permits Question, Notice {}

  /** Content that is answered. */
  public sealed interface Question extends Content permits Resolve, GetTables, StageFor {
    /** Answer that refuses the question, with the reason. */
    Object refusal(String reason);
  }

  /** Content without an answer. */
  public sealed interface Notice extends Content permits Touch, Released {}

  /**
   * Returns the part of a time limit that the receiving process may use. The rest is for the way of
   * the answer, for the reader's next step, and for clocks that differ in speed.
   *
   * @param time in any unit
   */
  public static long usable(long time) {
    return time - time / MARGIN;
  }

  /**
   * Asks for a queue pair; answered by {@link Connected} or {@link Refused}.
   *
   * @param addressee process that is meant: locations have no meaning for another one at its
   *     address
   * @param peerId id of the sender
   * @param providerName provider of the sender's device
   * @param queuePair the sender's queue pair
   */
  public record Connect(
      ProcessName addressee, String peerId, String providerName, QueuePairAddress queuePair) {
    private void write(Output output) {
      Fields.writeProcess(output, addressee);
      Fields.writeString(output, peerId);
      Fields.writeString(output, providerName);
      Fields.writeQueuePair(output, queuePair);
    }

    private static Connect read(Input input) {
      return new Connect(
          Fields.readProcess(input),
          Fields.readString(input),
          Fields.readString(input),
          Fields.readQueuePair(input));
    }
  }

  /** The server's queue pair, connected to the queue pair of {@link Connect}. */
  public record Connected(QueuePairAddress queuePair) {
    private void write(Output output) {
      Fields.writeQueuePair(output, queuePair);
    }

    private static Connected read(Input input) {
      return new Connected(Fields.readQueuePair(input));
    }
  }

  /** Refusal of a request, with the reason. */
  public record Refused(String reason) {
    private void write(Output output) {
      Fields.writeString(output, reason);
    }

    private static Refused read(Input input) {
      return new Refused(Fields.readString(input));
    }
  }

  /**
   * The client has closed one of its queue pairs. No answer.
   *
   * @param peerId id of the client
   * @param qpNumber number of the closed queue pair
   */
  public record Released(String peerId, int qpNumber) implements Notice {
    private void write(Output output) {
      Fields.writeString(output, peerId);
      output.writeInt(qpNumber);
    }

    private static Released read(Input input) {
      return new Released(Fields.readString(input), input.readInt());
    }
  }

  /** Asks for locations; answered by {@link Resolved} or {@link Refused}. */
  public record Resolve(int shuffleId, long[] mapIds) implements Question {
    @Override
    public Refused refusal(String reason) {
      return new Refused(reason);
    }

    private void write(Output output) {
      output.writeInt(shuffleId);
      Fields.writeLongs(output, mapIds);
    }

    private static Resolve read(Input input) {
      return new Resolve(Fields.readShuffleId(input), Fields.readLongs(input));
    }
  }

  /** One location for each map id of {@link Resolve}, in its order; null if there is none. */
  public record Resolved(List<MapOutputLocation> locations) {
    private void write(Output output) {
      Fields.writeAll(output, locations, (each, out) -> Fields.writeLocation(out, each));
    }

    private static Resolved read(Input input) {
      return new Resolved(Fields.readAtMost(input, MAX_RESOLVE, 1, Fields::readLocation));
    }
  }

  /** The client READs from the shuffle. No answer. */
  public record Touch(int shuffleId) implements Notice {
    /** Interval at which a client repeats the message while it READs. */
    public static final long INTERVAL_MS = 10_000;

    private void write(Output output) {
      output.writeInt(shuffleId);
    }

    private static Touch read(Input input) {
      return new Touch(Fields.readShuffleId(input));
    }
  }

  /** Partitions [start, end) of a map output. */
  public record Partitions(long mapId, int start, int end) {
    private static final int BYTES = Long.BYTES + 2 * Integer.BYTES;

    private void write(Output output) {
      output.writeLong(mapId);
      output.writeInt(start);
      output.writeInt(end);
    }

    private static Partitions read(Input input) {
      return new Partitions(input.readLong(), input.readInt(), input.readInt());
    }
  }

  /**
   * Asks for parts of partition tables that are not registered; answered by {@link Tables} or
   * {@link NotStaged}.
   *
   * @param timeLeftMs time after which the client needs no answer
   * @param wanted {@link #MAX_PIECES} at most, with {@link #MAX_ENTRIES} partitions in all
   */
  public record GetTables(int shuffleId, int timeLeftMs, List<Partitions> wanted)
      implements Question {
    /** Heap of one map output's partitions and header, in question and answer. */
    private static final long MAP_OUTPUT_HEAP_BYTES = 96;

    /** Number of partitions in all. */
    public long partitions() {
      return wanted.stream().mapToLong(each -> Math.max(0, (long) each.end() - each.start())).sum();
    }

    /** Approximate heap that the question and its answer take on the server. */
    public long heapBytes() {
      return MAP_OUTPUT_HEAP_BYTES * wanted.size() + TableEntry.BYTES * partitions();
    }

    /** Refuses as stale: the sender's locations belong to another process. */
    @Override
    public NotStaged refusal(String reason) {
      return new NotStaged(true, reason);
    }

    private void write(Output output) {
      output.writeInt(shuffleId);
      output.writeInt(timeLeftMs);
      Fields.writeAll(output, wanted, Partitions::write);
    }

    private static GetTables read(Input input) {
      return new GetTables(
          Fields.readShuffleId(input),
          input.readInt(),
          Fields.readAll(input, Partitions.BYTES, Partitions::read));
    }
  }

  /**
   * Parts of partition tables, in the order of {@link GetTables}. Each has the {@link
   * MapOutputHeader} and the {@link TableEntry}s, as a READ of the table would return them. It is
   * empty if the client's location is stale, and {@link #UNREADABLE} if a file cannot be read,
   * perhaps only now.
   */
  public record Tables(List<long[]> tables) {
    /** Differs from each table in length. */
    public static final long[] UNREADABLE = {0};

    private void write(Output output) {
      Fields.writeAll(output, tables, (table, out) -> Fields.writeLongs(out, table));
    }

    private static Tables read(Input input) {
      return new Tables(Fields.readAtMost(input, MAX_PIECES, 1, Fields::readLongs));
    }
  }

  /** Bytes [position, position + length) of a map output's data file. */
  public record Piece(long mapId, long position, int length) {
    private static final int BYTES = 2 * Long.BYTES + Integer.BYTES;

    private void write(Output output) {
      output.writeLong(mapId);
      output.writeLong(position);
      output.writeInt(length);
    }

    private static Piece read(Input input) {
      return new Piece(input.readLong(), input.readLong(), input.readInt());
    }
  }

  /**
   * Pieces of a shuffle that are to be staged, one after the other.
   *
   * @param timeLeftMs time after which the client needs no copy
   */
  public record Stage(int shuffleId, int timeLeftMs, List<Piece> pieces) {
    /** Heap of one piece and of the data about its map output. */
    private static final long PIECE_HEAP_BYTES = 64;

    /** Approximate heap that the request takes on the server. */
    public long heapBytes() {
      return PIECE_HEAP_BYTES * pieces.size();
    }

    private void write(Output output) {
      output.writeInt(shuffleId);
      output.writeInt(timeLeftMs);
      Fields.writeAll(output, pieces, Piece::write);
    }

    private static Stage read(Input input) {
      return new Stage(
          Fields.readShuffleId(input),
          input.readInt(),
          Fields.readAll(input, Piece.BYTES, Piece::read));
    }
  }

  /**
   * Asks for a copy; answered by {@link Staged} or {@link NotStaged}.
   *
   * @param peerId id of the client, whichever connection it uses
   */
  public record StageFor(String peerId, Stage stage) implements Question {
    /** Refuses as stale: the sender's locations belong to another process. */
    @Override
    public NotStaged refusal(String reason) {
      return new NotStaged(true, reason);
    }

    private void write(Output output) {
      Fields.writeString(output, peerId);
      stage.write(output);
    }

    private static StageFor read(Input input) {
      return new StageFor(Fields.readString(input), Stage.read(input));
    }
  }

  /**
   * Region from which the client READs the pieces.
   *
   * @param leaseId never used again by this process
   * @param tookNanos from the receipt of {@link StageFor} to this answer, by the server's clock,
   *     plus the wait at the client before, by the client's clock
   * @param leaseNanos for which the bytes stay unchanged from this answer on, unless the client
   *     sends {@link Done}
   * @param crc32c of all bytes, if a map output has no checksums of Spark's; else {@link
   *     #NO_CHECKSUM}
   */
  public record Staged(
      long leaseId, RemoteRegion region, long tookNanos, long leaseNanos, long crc32c) {
    public static final long NO_CHECKSUM = -1;

    /** The same answer, for a client that began to wait this much earlier. */
    public Staged after(long nanos) {
      return new Staged(leaseId, region, tookNanos + nanos, leaseNanos, crc32c);
    }

    private void write(Output output) {
      output.writeLong(leaseId);
      Fields.writeRegion(output, region);
      output.writeLong(tookNanos);
      output.writeLong(leaseNanos);
      output.writeLong(crc32c);
    }

    private static Staged read(Input input) {
      return new Staged(
          input.readLong(),
          Fields.readRegion(input),
          input.readLong(),
          input.readLong(),
          input.readLong());
    }
  }

  /**
   * Nothing was copied, or no table was read, for this reason.
   *
   * @param stale true if the client's locations are stale: it may locate the map outputs again
   */
  public record NotStaged(boolean stale, String reason) {
    private void write(Output output) {
      output.writeBoolean(stale);
      Fields.writeString(output, reason);
    }

    private static NotStaged read(Input input) {
      return new NotStaged(input.readBoolean(), Fields.readString(input));
    }
  }

  /**
   * Ends a lease: the client has READ the bytes. No answer.
   *
   * @param addressee process that gave the lease; in another process at its address the same id
   *     means another lease
   * @param peerId id of the client, whichever connection it uses
   */
  public record Done(ProcessName addressee, String peerId, long leaseId) {
    private void write(Output output) {
      Fields.writeProcess(output, addressee);
      Fields.writeString(output, peerId);
      output.writeLong(leaseId);
    }

    private static Done read(Input input) {
      return new Done(Fields.readProcess(input), Fields.readString(input), input.readLong());
    }
  }
}
