package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.util.List;

/** The messages between a block server and its clients. */
public final class ControlMessages {
  /** Map outputs that one {@link Resolve} may ask for: its answer takes 123 KB. */
  public static final int MAX_RESOLVE = 4096;

  /** Pieces that one {@link Stage} may want: 80 KB. */
  public static final int MAX_PIECES = 4096;

  /** Partitions that one {@link GetTables} may ask for in all: its answer takes 640 KB at most. */
  public static final int MAX_ENTRIES = 1 << 15;

  /** Such a part of a time that one process gives another is left. */
  private static final int MARGIN = 8;

  private static final int FIRST_ID = MessageType.FIRST_ID;

  /** Part of other conversations, too. */
  public static final MessageType<Refused> REFUSED =
      new MessageType<>(FIRST_ID + 2, Refused.class, Refused::write, Refused::read);

  /** Ids from {@link MessageType#FIRST_ID} to 31 are taken by these and their successors. */
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
          new MessageType<>(FIRST_ID + 12, Tables.class, Tables::write, Tables::read));

  private ControlMessages() {}

  /**
   * What of a time that one process gives another may be used: the answer needs some on its way,
   * its reader for what comes next, and clocks of two machines do not go alike.
   *
   * @param time in any unit
   */
  public static long usable(long time) {
    return time - time / MARGIN;
  }

  /**
   * Asks for a queue pair; answered by {@link Connected} or {@link Refused}.
   *
   * @param addressee who is asked: locations mean nothing to another process at its address
   * @param peerId who asks
   * @param providerName provider of its device
   * @param queuePair its queue pair
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

  /** The server's queue pair, connected to the one of {@link Connect}. */
  public record Connected(QueuePairAddress queuePair) {
    private void write(Output output) {
      Fields.writeQueuePair(output, queuePair);
    }

    private static Connected read(Input input) {
      return new Connected(Fields.readQueuePair(input));
    }
  }

  /** What was asked for is not given or done, and why. */
  public record Refused(String reason) {
    private void write(Output output) {
      Fields.writeString(output, reason);
    }

    private static Refused read(Input input) {
      return new Refused(Fields.readString(input));
    }
  }

  /**
   * The client has closed a queue pair of its own. No answer.
   *
   * @param peerId who says it
   * @param qpNumber the number of its queue pair
   */
  public record Released(String peerId, int qpNumber) {
    private void write(Output output) {
      Fields.writeString(output, peerId);
      output.writeInt(qpNumber);
    }

    private static Released read(Input input) {
      return new Released(Fields.readString(input), input.readInt());
    }
  }

  /** Asks for locations; answered by {@link Resolved}. */
  public record Resolve(int shuffleId, long[] mapIds) {
    private void write(Output output) {
      output.writeInt(shuffleId);
      Fields.writeLongs(output, mapIds);
    }

    private static Resolve read(Input input) {
      return new Resolve(Fields.readShuffleId(input), Fields.readLongs(input));
    }
  }

  /** One location for each map id of {@link Resolve}, in its order; null for what has none. */
  public record Resolved(List<MapOutputLocation> locations) {
    private void write(Output output) {
      Fields.writeAll(output, locations, (each, out) -> Fields.writeLocation(out, each));
    }

    private static Resolved read(Input input) {
      return new Resolved(Fields.readAtMost(input, MAX_RESOLVE, 1, Fields::readLocation));
    }
  }

  /** The client READs from the shuffle. No answer. */
  public record Touch(int shuffleId) {
    /** Who goes on READing says so as often. */
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
   * @param timeLeftMs what is not read by then need not be read any more
   * @param wanted {@link #MAX_PIECES} at most, of {@link #MAX_ENTRIES} partitions in all
   */
  public record GetTables(int shuffleId, int timeLeftMs, List<Partitions> wanted) {
    /** Of a map output's partitions and header, in question and answer. */
    private static final long MAP_OUTPUT_HEAP_BYTES = 96;

    /** How many it asks for in all. */
    public long partitions() {
      return wanted.stream().mapToLong(each -> Math.max(0, (long) each.end() - each.start())).sum();
    }

    /** What it and its answer take of the server's heap, about. */
    public long heapBytes() {
      return MAP_OUTPUT_HEAP_BYTES * wanted.size() + TableEntry.BYTES * partitions();
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
   * What was asked for, in its order: of each the {@link MapOutputHeader} and the {@link
   * TableEntry}s, as a READ of a table would have given them; nothing where the client's location
   * is stale, {@link #UNREADABLE} where a file cannot be read, now perhaps.
   */
  public record Tables(List<long[]> tables) {
    /** As long as no table is. */
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
   * What is wanted of a shuffle in registered memory: pieces, one after the other.
   *
   * @param timeLeftMs what is not there by then need not be copied any more
   */
  public record Stage(int shuffleId, int timeLeftMs, List<Piece> pieces) {
    /** Of a piece, and of what is known of its map output. */
    private static final long PIECE_HEAP_BYTES = 64;

    /** What it takes of the server's heap, about. */
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
   * @param peerId who asks, over whatever connection
   */
  public record StageFor(String peerId, Stage stage) {
    private void write(Output output) {
      Fields.writeString(output, peerId);
      stage.write(output);
    }

    private static StageFor read(Input input) {
      return new StageFor(Fields.readString(input), Stage.read(input));
    }
  }

  /**
   * Where the pieces are to be READ.
   *
   * @param leaseId never given out again by this process
   * @param tookNanos from the receipt of {@link StageFor} to this answer, by the server's clock;
   *     and what it waited before at the client, by that one's
   * @param leaseNanos for which the bytes stay as they are from then on, unless the client says
   *     {@link Done}
   * @param crc32c of all bytes, where map outputs have no checksums of Spark's; else {@link
   *     #NO_CHECKSUM}
   */
  public record Staged(
      long leaseId, RemoteRegion region, long tookNanos, long leaseNanos, long crc32c) {
    public static final long NO_CHECKSUM = -1;

    /** As who asked so much earlier sees it. */
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
   * Nothing was copied, or no table read, and why.
   *
   * @param stale whether the client's locations are: it may locate the map outputs again
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
   * The client has READ what it wanted: the lease ends. No answer.
   *
   * @param addressee who gave the lease: ids of another process at its address mean other leases
   * @param peerId who has it, over whatever connection it asked
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
