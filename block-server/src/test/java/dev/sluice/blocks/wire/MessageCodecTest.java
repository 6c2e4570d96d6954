// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Connected;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeRequest;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.LifetimeMessages.VersionRequest;
import dev.sluice.blocks.wire.LifetimeMessages.VersionResponse;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.FindJob;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.verbs.Gid;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MessageCodecTest {
  private static final ProcessName ADDRESSEE = new ProcessName("äpp", "node-a-1-ff");
  private final MessageCodec codec =
      new MessageCodec(ControlMessages.TYPES, NodeMessages.TYPES, LifetimeMessages.TYPES);

  static List<Object> messages() {
    QueuePairAddress queuePair =
        new QueuePairAddress(
            0xfffffe, 0x123456, 7, new Gid(-1, 2), 4096, 16, new byte[] {1, -2, 3});
    List<MapOutputLocation> locations = new ArrayList<>();
    locations.add(location(1L << 40));
    locations.add(null);
    locations.add(location(0));
    return List.of(
        new Connect(new ProcessName("äpp", "8"), "exécutor 7", "soft", queuePair),
        new Connected(queuePair),
        new Refused(""),
        new Resolved(locations),
        new NotStaged(true, "gone"),
        new Done(new ProcessName("app", "8"), "7", Long.MIN_VALUE),
        new Addressed(ADDRESSEE, "exécutor 7", new Resolve(3, new long[] {1, Long.MAX_VALUE, -5})),
        new Addressed(ADDRESSEE, "exécutor 7", new Touch(3)),
        new Addressed(new ProcessName("", ""), "", new Released("7", -1)),
        new Addressed(
            ADDRESSEE,
            "7",
            new Stage(
                3,
                10_000,
                List.of(new Partitions(1L << 40, 0, 1), new Partitions(-1, 7, 9)),
                0,
                1 << 20)),
        new Addressed(
            ADDRESSEE, "7", new Stage(3, 1, List.of(new Partitions(5, 7, 8)), 1L << 40, 9)),
        new Staged(
            -1,
            new RemoteRegion(-4096, 70, -7),
            1,
            2,
            Staged.NO_CHECKSUM,
            List.of(new long[] {1, -2, Long.MAX_VALUE, 4, 5, 6}, Staged.STALE, Staged.UNREADABLE)),
        new RegisterExecutor(new ProcessName("app-1-ab", "8"), "sécret"),
        new Registered("node-a-1", "a", 7_340, "soft", List.of("/data1/.sluice/app-1-ab", "")),
        new HandOver(3, Long.MAX_VALUE, 1),
        new Accepted(),
        new FindJob("application_1_0002-mapreduce"),
        new NodeRequest("app-1-ab", new RemoveShuffle(3)),
        new NodeRequest("äpp", new EndApplication()),
        new NodeRequest(
            "", new Renew(new NodeResponse("node-a-1-ff", -7), new int[] {1, Integer.MAX_VALUE})),
        new NodeResponse("node-a-1", Long.MIN_VALUE),
        new VersionRequest(),
        new VersionResponse("0.1.0+0123abcd"));
  }

  private static Addressed touch(int shuffleId) {
    return new Addressed(ADDRESSEE, "7", new Touch(shuffleId));
  }

  private static MapOutputLocation location(long mapId) {
    return new MapOutputLocation(
        mapId,
        new TableSegment(new RemoteRegion(-4096, TableSegment.bytes(64, 10_000), -7), 64),
        63);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void everyMessageComesBackAsItWas(Object message) throws Exception {
    assertThat(codec.decode(codec.encode(message))).usingRecursiveComparison().isEqualTo(message);
    assertThat(codec.decode(directBuffer(codec.encode(message))))
        .usingRecursiveComparison()
        .isEqualTo(message);
  }

  /** Peers of the previous version read and write these bytes. */
  @Test
  void theBytesOfEveryMessageArePinned() throws Exception {
    List<String> encoded = new ArrayList<>();
    for (Object message : messages()) {
      String hex = HexFormat.of().formatHex(codec.encode(message));
      encoded.add(message.getClass().getSimpleName() + " " + hex);
    }
    try (InputStream pinned = getClass().getResourceAsStream("messages.txt")) {
      assertThat(encoded).isEqualTo(new String(pinned.readAllBytes(), US_ASCII).lines().toList());
    }
    assertThat(messages()).map(Object::getClass).map(Class.class::cast).contains(types());
  }

  static List<Object> messagesByHand() {
    return messages().stream()
        .filter(message -> ReadCodecs.of(message.getClass()) != null)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("messagesByHand")
  void codecsThatAreWrittenByHandFollowTheRecords(Object message) {
    RecordCodec<Object> byHand = codec(ReadCodecs.of(message.getClass()));
    RecordCodec<Object> derived = codec(RecordCodec.derive(message.getClass()));
    Output output = new Output(16, -1);
    derived.writer().accept(output, message);
    byte[] bytes = output.toBytes();
    output.clear();
    byHand.writer().accept(output, message);
    assertThat(output.toBytes()).isEqualTo(bytes);
    assertThat(byHand.reader().apply(new Input(bytes)))
        .usingRecursiveComparison()
        .isEqualTo(derived.reader().apply(new Input(bytes)));
  }

  @SuppressWarnings("unchecked")
  private static RecordCodec<Object> codec(RecordCodec<?> any) {
    return (RecordCodec<Object>) any;
  }

  private static ByteBuffer directBuffer(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  @Test
  void aConversationKnowsItsOwnMessagesByTheirBegin() throws Exception {
    MessageCodec lifetimes = new MessageCodec(LifetimeMessages.TYPES);
    NodeRequest told = new NodeRequest("app-1-ab", new Renew(NodeResponse.NEVER, new int[] {1}));
    ByteBuffer renewal = directBuffer(codec.encode(told));
    assertThat(lifetimes.knows(renewal)).isTrue();
    assertThat(lifetimes.decode(renewal))
        .as("no byte of the message was consumed")
        .isInstanceOf(NodeRequest.class);
    assertThat(lifetimes.knows(directBuffer(codec.encode(touch(1))))).isFalse();
    assertThat(lifetimes.knows(directBuffer(new byte[] {1}))).isFalse();
    assertThat(lifetimes.knows(directBuffer(new byte[0]))).isFalse();
  }

  @Test
  void aLocationTakesTensOfBytes() throws Exception {
    int one = codec.encode(new Resolved(List.of(location(1)))).length;
    int two = codec.encode(new Resolved(List.of(location(1), location(2)))).length;
    assertThat(two - one).isEqualTo(30);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void aMessageThatIsCutOffIsRefused(Object message) throws Exception {
    byte[] frame = codec.encode(message);
    for (int length = 0; length < frame.length; length++) {
      byte[] cut = Arrays.copyOf(frame, length);
      assertThatThrownBy(() -> codec.decode(cut)).isInstanceOf(MessageException.class);
    }
    byte[] longer = Arrays.copyOf(frame, frame.length + 1);
    assertThatThrownBy(() -> codec.decode(longer)).isInstanceOf(MessageException.class);
  }

  @Test
  void randomBytesEndInAMessageOrInAMessageException() {
    Random random = new Random(7);
    for (int i = 0; i < 100_000; i++) {
      byte[] bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      if (bytes.length > 1 && i % 4 != 0) {
        bytes[0] = 1;
        int type = random.nextInt(ControlMessages.TYPES.size());
        bytes[1] = (byte) ControlMessages.TYPES.get(type).id();
      }
      decodeOrRefuse(bytes);
    }
  }

  @ParameterizedTest
  @MethodSource("messages")
  void flippedBytesEndInAMessageOrInAMessageException(Object message) throws Exception {
    byte[] frame = codec.encode(message);
    Random random = new Random(8);
    for (int i = 0; i < 10_000; i++) {
      byte[] bytes = frame.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      decodeOrRefuse(bytes);
    }
  }

  private void decodeOrRefuse(byte[] bytes) {
    try {
      assertThat(codec.decode(bytes).getClass()).isIn((Object[]) types());
    } catch (MessageException e) {
      assertThat(e).hasMessageContaining("essage");
    }
  }

  private static Class<?>[] types() {
    return Stream.of(ControlMessages.TYPES, NodeMessages.TYPES, LifetimeMessages.TYPES)
        .flatMap(List::stream)
        .map(MessageType::type)
        .toArray(Class<?>[]::new);
  }

  @Test
  void aCountBeyondTheFrameAllocatesNothing() {
    byte[] frame = {
      1, MessageType.FIRST_ID + 13, 1, 'a', 1, 'b', 1, 'c', 0, 0, 0, 0, 3, -1, -1, -1, -1, 7
    };
    assertThatThrownBy(() -> codec.decode(frame))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("elements");
  }

  @Test
  void answersWithTooManyTablesAreRefused() throws Exception {
    long[][] none = new long[ControlMessages.MAX_BLOCKS + 1][0];
    byte[] frame = codec.encode(new Staged(1, new RemoteRegion(1, 2, 3), 4, 5, 6, List.of(none)));
    assertThatThrownBy(() -> codec.decode(frame))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("4097 elements");
  }

  @Test
  void questionsForTooManyLocationsAreRefused() throws Exception {
    MapOutputLocation[] none = new MapOutputLocation[ControlMessages.MAX_RESOLVE + 1];
    byte[] frame = codec.encode(new Resolved(Arrays.asList(none)));
    assertThatThrownBy(() -> codec.decode(frame))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("4097 elements");
  }

  @Test
  void aShuffleBelowZeroIsRefused() throws Exception {
    Addressed resolve = new Addressed(ADDRESSEE, "7", new Resolve(-1, new long[0]));
    for (Object message : List.of(touch(-1), resolve)) {
      byte[] frame = codec.encode(message);
      assertThatThrownBy(() -> codec.decode(frame))
          .isInstanceOf(MessageException.class)
          .hasMessageContaining("invalid shuffle id -1");
    }
  }

  @Test
  void anotherVersionIsNamed() {
    assertThatThrownBy(() -> codec.decode(new byte[] {9, 16}))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("version 9");
  }

  @Test
  void kryosOwnTypesAreNoMessages() {
    for (byte id = 0; id < MessageType.FIRST_ID; id++) {
      byte[] frame = {1, id, 0, 0, 0, 0};
      assertThatThrownBy(() -> codec.decode(frame)).hasMessageContaining("unknown type");
    }
  }

  @Test
  void anUnregisteredTypeIsNotEncoded() {
    assertThatThrownBy(() -> codec.encode("text")).isInstanceOf(MessageException.class);
    assertThatThrownBy(() -> codec.encode(new StringBuilder()))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("StringBuilder");
  }

  @Test
  void aMessageBeyondTheFrameIsNotEncoded() {
    Resolve all = new Resolve(1, new long[MessageCodec.MAX_FRAME_BYTES / Long.BYTES]);
    Addressed large = new Addressed(ADDRESSEE, "7", all);
    assertThatThrownBy(() -> codec.encode(large)).isInstanceOf(MessageException.class);
    ByteBuffer frame = ByteBuffer.allocate(MessageCodec.MAX_FRAME_BYTES + 1);
    assertThatThrownBy(() -> codec.decode(frame))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("16777217 bytes exceeds the limit of 16777216 bytes");
  }

  @Test
  void furtherMessagesCanBeRegistered() throws Exception {
    record Epoch(int shuffleId, String note) {}
    List<MessageType<?>> types = new ArrayList<>(ControlMessages.TYPES);
    types.add(new MessageType<>(32, Epoch.class));
    MessageCodec larger = new MessageCodec(types);

    Epoch epoch = new Epoch(5, "ok");
    assertThat(larger.decode(larger.encode(epoch))).isEqualTo(epoch);
    assertThat(larger.decode(codec.encode(touch(1)))).isEqualTo(touch(1));
    assertThatThrownBy(() -> codec.decode(larger.encode(epoch)))
        .hasMessageContaining("unknown type 32");
  }

  @Test
  void anIdIsTakenOnce() {
    MessageType<?> last = ControlMessages.TYPES.getLast();
    assertThatThrownBy(() -> new MessageCodec(List.of(last, last)))
        .hasMessageContaining("is already in use");
  }

  @Test
  void theContextClassLoaderDoesNotMatter() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(null);
    try {
      MessageCodec fresh = new MessageCodec(ControlMessages.TYPES);
      assertThat(fresh.decode(fresh.encode(touch(5)))).isEqualTo(touch(5));
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void threadsShareACodec() {
    List<Object> messages = messages();
    IntStream.range(0, 20_000)
        .parallel()
        .forEach(
            i -> {
              Object message = messages.get(i % messages.size());
              try {
                assertThat(codec.encode(codec.decode(codec.encode(message))))
                    .isEqualTo(codec.encode(message));
              } catch (MessageException e) {
                throw new AssertionError(e);
              }
            });
  }
}
