// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Connected;
import dev.sluice.blocks.wire.ControlMessages.Content;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.OfVersion4;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.NodeMessages.FindJob;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.verbs.Gid;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Codecs of a reader's first messages and their answers, written by hand: a reduce task of
 * MapReduce lives for seconds, and would derive them for a third of a second before its first READ.
 * {@link RecordCodec} takes them from here. Their bytes are those of derived ones. No state; any
 * thread.
 */
final class ReadCodecs {
  private static final int STRING = 0;
  private static final int LONGS = 1;
  private static final int LOCATION = 2;
  private static final int PARTITIONS = 3;
  private static final int CONNECT = 4;
  private static final int CONNECTED = 5;
  private static final int ADDRESSED = 6;
  private static final int RESOLVED = 7;
  private static final int STAGED = 8;
  private static final int DONE = 9;
  private static final int FIND_JOB = 10;
  private static final int REGISTERED = 11;

  private static final RecordCodec<List<String>> STRINGS =
      RecordCodec.ofList(codec(STRING, 1), Integer.MAX_VALUE);
  private static final RecordCodec<List<long[]>> TABLES =
      RecordCodec.ofList(codec(LONGS, 1), ControlMessages.MAX_BLOCKS);
  private static final RecordCodec<List<MapOutputLocation>> LOCATIONS =
      RecordCodec.ofList(codec(LOCATION, 1), ControlMessages.MAX_RESOLVE);
  private static final RecordCodec<List<Partitions>> WANTED =
      RecordCodec.ofList(codec(PARTITIONS, Long.BYTES + 2 * Integer.BYTES), Integer.MAX_VALUE);

  // Places of records in the Kinds of Content.
  private static final int RESOLVE = 0;
  private static final int FIRST_OF_VERSION_4 = 1;
  private static final int LAST_OF_VERSION_4 = 2;
  private static final int TOUCH = 3;
  private static final int RELEASED = 4;
  private static final int STAGE = 5;

  private static final Map<Class<?>, RecordCodec<?>> CODECS =
      Map.of(
          Connect.class, codec(CONNECT, 1),
          Connected.class, codec(CONNECTED, 1),
          Addressed.class, codec(ADDRESSED, 1),
          Resolved.class, codec(RESOLVED, 1),
          Staged.class, codec(STAGED, 1),
          Done.class, codec(DONE, 1),
          FindJob.class, codec(FIND_JOB, 1),
          Registered.class, codec(REGISTERED, 1));

  private ReadCodecs() {}

  /** Returns the codec of a message; null if it is to be derived. */
  static @Nullable RecordCodec<?> of(Class<?> message) {
    return CODECS.get(message);
  }

  private static <T> RecordCodec<T> codec(int type, int leastBytes) {
    ByHand<T> byHand = new ByHand<>(type);
    return new RecordCodec<>(byHand, byHand, leastBytes);
  }

  /**
   * Writer and reader of one type. A lambda for each type would be linked for two milliseconds in a
   * new process; this class is loaded once.
   */
  private static final class ByHand<T> implements BiConsumer<Output, T>, Function<Input, T> {
    private final int type;

    ByHand(int type) {
      this.type = type;
    }

    @Override
    public void accept(Output output, T value) {
      switch (type) {
        case STRING -> Fields.writeString(output, (String) value);
        case LONGS -> Fields.writeLongs(output, (long[]) value);
        case LOCATION -> Fields.writeLocation(output, (MapOutputLocation) value);
        case PARTITIONS -> writePartitions(output, (Partitions) value);
        case CONNECT -> writeConnect(output, (Connect) value);
        case CONNECTED -> writeConnected(output, (Connected) value);
        case ADDRESSED -> writeAddressed(output, (Addressed) value);
        case RESOLVED -> writeResolved(output, (Resolved) value);
        case STAGED -> writeStaged(output, (Staged) value);
        case DONE -> writeDone(output, (Done) value);
        case FIND_JOB -> writeFindJob(output, (FindJob) value);
        case REGISTERED -> writeRegistered(output, (Registered) value);
        default -> throw new AssertionError(type);
      }
    }

    @Override
    // The type of a codec is that of its number. A location may be null, as in its derived codec.
    @SuppressWarnings({"unchecked", "NullAway"})
    public T apply(Input input) {
      return (T)
          switch (type) {
            case STRING -> Fields.readString(input);
            case LONGS -> Fields.readLongs(input);
            case LOCATION -> Fields.readLocation(input);
            case PARTITIONS -> readPartitions(input);
            case CONNECT -> readConnect(input);
            case CONNECTED -> readConnected(input);
            case ADDRESSED -> readAddressed(input);
            case RESOLVED -> readResolved(input);
            case STAGED -> readStaged(input);
            case DONE -> readDone(input);
            case FIND_JOB -> readFindJob(input);
            case REGISTERED -> readRegistered(input);
            default -> throw new AssertionError(type);
          };
    }
  }

  private static void writeName(Output output, ProcessName name) {
    Fields.writeString(output, name.application());
    Fields.writeString(output, name.id());
  }

  private static ProcessName readName(Input input) {
    return new ProcessName(Fields.readString(input), Fields.readString(input));
  }

  private static void writeQueuePair(Output output, QueuePairAddress address) {
    output.writeInt(address.qpNumber());
    output.writeInt(address.psn());
    output.writeInt(address.lid());
    output.writeLong(address.gid().subnetPrefix());
    output.writeLong(address.gid().interfaceId());
    output.writeInt(address.mtu());
    output.writeInt(address.maxDestRdAtomic());
    Fields.writeBytes(output, address.providerData());
  }

  private static QueuePairAddress readQueuePair(Input input) {
    return new QueuePairAddress(
        input.readInt(),
        input.readInt(),
        input.readInt(),
        new Gid(input.readLong(), input.readLong()),
        input.readInt(),
        input.readInt(),
        Fields.readBytes(input));
  }

  private static void writeConnect(Output output, Connect connect) {
    writeName(output, connect.addressee());
    Fields.writeString(output, connect.peerId());
    Fields.writeString(output, connect.providerName());
    writeQueuePair(output, connect.queuePair());
  }

  private static Connect readConnect(Input input) {
    return new Connect(
        readName(input), Fields.readString(input), Fields.readString(input), readQueuePair(input));
  }

  private static void writeConnected(Output output, Connected connected) {
    writeQueuePair(output, connected.queuePair());
  }

  private static Connected readConnected(Input input) {
    return new Connected(readQueuePair(input));
  }

  private static void writeAddressed(Output output, Addressed addressed) {
    writeName(output, addressed.addressee());
    Fields.writeString(output, addressed.senderId());
    writeContent(output, addressed.content());
  }

  private static Addressed readAddressed(Input input) {
    return new Addressed(readName(input), Fields.readString(input), readContent(input));
  }

  // A switch over types links its call site at run time, which takes long in a new process.
  @SuppressWarnings("IfChainToSwitch")
  private static void writeContent(Output output, Content content) {
    if (content instanceof Resolve resolve) {
      output.writeByte(RESOLVE);
      output.writeInt(resolve.shuffleId());
      Fields.writeLongs(output, resolve.mapIds());
    } else if (content instanceof Touch touch) {
      output.writeByte(TOUCH);
      output.writeInt(touch.shuffleId());
    } else if (content instanceof Released released) {
      output.writeByte(RELEASED);
      Fields.writeString(output, released.peerId());
      output.writeInt(released.qpNumber());
    } else if (content instanceof Stage stage) {
      output.writeByte(STAGE);
      output.writeInt(stage.shuffleId());
      output.writeInt(stage.timeLeftMs());
      WANTED.writer().accept(output, stage.wanted());
      output.writeLong(stage.position());
      output.writeInt(stage.maxBytes());
    } else {
      output.writeByte(FIRST_OF_VERSION_4);
    }
  }

  private static Content readContent(Input input) {
    int kind = input.readByte();
    return switch (kind) {
      case RESOLVE -> new Resolve(Fields.readShuffleId(input), Fields.readLongs(input));
      case FIRST_OF_VERSION_4, LAST_OF_VERSION_4 -> new OfVersion4();
      case TOUCH -> new Touch(Fields.readShuffleId(input));
      case RELEASED -> new Released(Fields.readString(input), input.readInt());
      case STAGE ->
          new Stage(
              Fields.readShuffleId(input),
              input.readInt(),
              WANTED.reader().apply(input),
              input.readLong(),
              input.readInt());
      default -> throw RecordCodec.unknown(kind);
    };
  }

  private static void writePartitions(Output output, Partitions wanted) {
    output.writeLong(wanted.mapId());
    output.writeInt(wanted.start());
    output.writeInt(wanted.end());
  }

  private static Partitions readPartitions(Input input) {
    return new Partitions(input.readLong(), input.readInt(), input.readInt());
  }

  private static void writeResolved(Output output, Resolved resolved) {
    LOCATIONS.writer().accept(output, resolved.locations());
  }

  private static Resolved readResolved(Input input) {
    return new Resolved(LOCATIONS.reader().apply(input));
  }

  private static void writeStaged(Output output, Staged staged) {
    output.writeLong(staged.leaseId());
    Fields.writeRegion(output, staged.region());
    output.writeLong(staged.tookNanos());
    output.writeLong(staged.leaseNanos());
    output.writeLong(staged.crc32c());
    TABLES.writer().accept(output, staged.tables());
  }

  private static Staged readStaged(Input input) {
    return new Staged(
        input.readLong(),
        Fields.readRegion(input),
        input.readLong(),
        input.readLong(),
        input.readLong(),
        TABLES.reader().apply(input));
  }

  private static void writeDone(Output output, Done done) {
    writeName(output, done.addressee());
    Fields.writeString(output, done.peerId());
    output.writeLong(done.leaseId());
  }

  private static Done readDone(Input input) {
    return new Done(readName(input), Fields.readString(input), input.readLong());
  }

  private static void writeFindJob(Output output, FindJob find) {
    Fields.writeString(output, find.application());
  }

  private static FindJob readFindJob(Input input) {
    return new FindJob(Fields.readString(input));
  }

  private static void writeRegistered(Output output, Registered registered) {
    Fields.writeString(output, registered.nodeId());
    Fields.writeString(output, registered.host());
    output.writeInt(registered.port());
    Fields.writeString(output, registered.provider());
    STRINGS.writer().accept(output, registered.folders());
  }

  private static Registered readRegistered(Input input) {
    return new Registered(
        Fields.readString(input),
        Fields.readString(input),
        input.readInt(),
        Fields.readString(input),
        STRINGS.reader().apply(input));
  }
}
