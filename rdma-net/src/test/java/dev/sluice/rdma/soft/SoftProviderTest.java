package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.LOC_PROT_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_OP_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.RETRY_EXC_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.Gid;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairCapabilities;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.leak.LeakCheck;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What only the software provider has: faults, tokens, sockets, and mappings that break. */
class SoftProviderTest {
  private static final int MIB = 1 << 20;
  private static final ConnectionAttributes SHORT_TIMEOUT =
      new ConnectionAttributes(14, 3, 7, 12, 16);

  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  @TempDir Path directory;

  private final List<TestNode> nodes = new ArrayList<>();
  private TestNode left;

  @BeforeEach
  void openLeft() throws IOException {
    left = open(SoftOptions.DEFAULT);
  }

  @AfterEach
  void closeNodes() {
    nodes.forEach(TestNode::close);
  }

  private TestNode open(SoftOptions options) throws IOException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    TestNode node =
        new TestNode(new SoftProvider(options.withLeaks(leaks.tracker())).open(loopback));
    nodes.add(node);
    return node;
  }

  private TestNode faulty(String plan) throws IOException {
    return open(SoftOptions.DEFAULT.withFaults(FaultPlan.parse(plan)));
  }

  private QueuePair connect(TestNode right, ConnectionAttributes attributes) throws VerbsException {
    QueuePair queuePair = left.createQueuePair();
    TestNode.connect(queuePair, right.createQueuePair(), attributes);
    return queuePair;
  }

  private static SendWorkRequest read(
      long wrId, MemoryRegion target, MemoryRegion source, int bytes) {
    return SendWorkRequest.read(
        wrId,
        new ScatterGatherEntry(target.address(), bytes, target.lkey()),
        source.address(),
        source.rkey(),
        true);
  }

  private List<WorkCompletionStatus> await(int count) throws VerbsException {
    return left.await(count).stream().map(Completed::status).toList();
  }

  @Test
  void plannedStatusIsWhatTheInitiatorSees() throws Exception {
    TestNode right = faulty("status@2:REM_OP_ERR");
    MemoryRegion source = right.register(64, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT)
        .postSend(Collections.nCopies(4, read(1, left.register(64, TestNode.ALL), source, 64)));
    assertThat(await(4)).containsExactly(SUCCESS, REM_OP_ERR, WR_FLUSH_ERR, WR_FLUSH_ERR);
  }

  @Test
  void plannedKillCutsTheConnectionAndAFreshQueuePairWorks() throws Exception {
    TestNode right = faulty("kill@2");
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.register(64, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    queuePair.postSend(List.of(read(1, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
    queuePair.postSend(Collections.nCopies(2, read(1, target, source, 64)));
    assertThat(await(2)).containsExactly(RETRY_EXC_ERR, WR_FLUSH_ERR);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(1, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void plannedCorruptionChangesOneByteAndNotTheSource() throws Exception {
    TestNode right = faulty("minLength=1000;corrupt@1");
    MemoryRegion source = right.register(MIB, TestNode.ALL);
    MemoryRegion target = left.register(MIB, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    queuePair.postSend(List.of(read(1, target, source, 999)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(changedBytes(left.memory(target))).isZero();
    queuePair.postSend(List.of(read(2, target, source, MIB)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(changedBytes(left.memory(target))).isEqualTo(1);
    assertThat(changedBytes(right.memory(source))).isZero();
  }

  private static long changedBytes(MemorySegment memory) {
    return memory
        .elements(ValueLayout.JAVA_BYTE)
        .filter(e -> e.get(ValueLayout.JAVA_BYTE, 0) != 0)
        .count();
  }

  @Test
  void plannedDelayHoldsTheAnswerBackAndKeepsTheOrder() throws Exception {
    TestNode right = faulty("delay@1:50");
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.register(64, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT)
        .postSend(List.of(read(1, target, source, 64), read(2, target, source, 64)));
    assertThat(left.await(2)).extracting(Completed::wrId).containsExactly(1L, 2L);
  }

  @Test
  void answerThatIsHeldBackForTooLongIsAsGoodAsLost() throws Exception {
    TestNode right = faulty("delay@1:600000");
    MemoryRegion source = right.register(64, TestNode.ALL);
    connect(right, SHORT_TIMEOUT)
        .postSend(Collections.nCopies(2, read(1, left.register(64, TestNode.ALL), source, 64)));
    assertThat(await(2)).containsExactly(RETRY_EXC_ERR, WR_FLUSH_ERR);
  }

  @Test
  void everyReadIsAnsweredOnceAndRightWhateverFails() throws Exception {
    TestNode right =
        faulty("seed=11;kill=0.02;status=0.02:REM_OP_ERR;delay=0.05:1;status=0.01:REM_ACCESS_ERR");
    int bytes = 300_000;
    MemorySegment memory = right.arena.allocate(bytes);
    memory.fill((byte) 77);
    MemoryRegion source = right.register(memory);
    int succeeded = 0;
    for (int round = 0; round < 60; round++) {
      MemoryRegion target = left.register(bytes, TestNode.ALL);
      QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
      queuePair.postSend(
          IntStream.range(0, 20).mapToObj(i -> read(i, target, source, bytes)).toList());
      List<Completed> completed = left.await(20);
      assertThat(completed).extracting(Completed::wrId).isSorted().doesNotHaveDuplicates();
      if (completed.getFirst().status() == SUCCESS) {
        succeeded++;
        assertThat(left.memory(target).mismatch(memory)).isEqualTo(-1);
      }
      queuePair.close();
      target.close();
    }
    assertThat(succeeded).isPositive();
    assertThat(left.cq.poll(new WorkCompletions(1))).isZero();
  }

  @Test
  void readOfATruncatedMappingFailsAtTheInitiatorAndTheResponderLives() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion target = left.register(4 * MIB, TestNode.ALL);
    try (Arena arena = Arena.ofShared();
        FileChannel file = newFile("data")) {
      MemorySegment mapping = file.map(MapMode.READ_WRITE, 0, 4 * MIB, arena);
      try (MemoryRegion source =
          right.pd.register(mapping.asReadOnly(), Collections.singleton(AccessFlag.REMOTE_READ))) {
        file.truncate(MIB);
        connect(right, ConnectionAttributes.DEFAULT)
            .postSend(List.of(read(1, target, source, 4 * MIB)));
        assertThat(await(1).getFirst()).isIn(REM_OP_ERR, RETRY_EXC_ERR);
      }
    }
    MemoryRegion whole = right.register(4 * MIB, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(2, target, whole, 4 * MIB)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void readIntoATruncatedMappingFailsAndTheInitiatorLives() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion source = right.register(4 * MIB, TestNode.ALL);
    for (int bytes : new int[] {16, 4096, 4 * MIB}) {
      try (Arena arena = Arena.ofShared();
          FileChannel file = newFile("target" + bytes)) {
        MemorySegment mapping = file.map(MapMode.READ_WRITE, 0, 4 * MIB, arena);
        try (MemoryRegion target = left.pd.register(mapping, TestNode.ALL)) {
          file.truncate(0);
          connect(right, ConnectionAttributes.DEFAULT)
              .postSend(List.of(read(1, target, source, bytes)));
          assertThat(await(1)).doesNotContain(SUCCESS);
        }
      }
    }
    MemoryRegion target = left.register(64, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(2, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  /** Frames that end right before, at and behind the end of what is received at a time. */
  @ParameterizedTest
  @ValueSource(ints = {24, 4055, 4056, 4057, 65_495, 65_496, 65_497})
  void answersArriveWholeWhereverTheReceivedBytesEnd(int bytes) throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    int count = TestNode.CAPABILITIES.maxSendWr();
    MemorySegment memory = right.arena.allocate((long) count * bytes, 8);
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i % 251));
    }
    MemoryRegion source = right.register(memory);
    MemoryRegion target = left.register(memory.byteSize(), TestNode.ALL);
    List<SendWorkRequest> reads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long offset = (long) i * bytes;
      reads.add(
          SendWorkRequest.read(
              i,
              new ScatterGatherEntry(target.address() + offset, bytes, target.lkey()),
              source.address() + offset,
              source.rkey(),
              true));
    }
    connect(right, ConnectionAttributes.DEFAULT).postSend(reads);
    assertThat(await(count)).containsOnly(SUCCESS);
    assertThat(left.memory(target).mismatch(memory)).isEqualTo(-1);
  }

  private FileChannel newFile(String name) throws IOException {
    return FileChannel.open(
        directory.resolve(name),
        StandardOpenOption.CREATE_NEW,
        StandardOpenOption.READ,
        StandardOpenOption.WRITE);
  }

  @Test
  void closedRegionIsNotFoundByTheKeyThatWasUsedLast() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.register(64, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    queuePair.postSend(List.of(read(1, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
    target.close();
    queuePair.postSend(List.of(read(2, target, source, 64)));
    assertThat(await(1)).containsExactly(LOC_PROT_ERR);
  }

  @Test
  void readsReachBeyondTwoGibibytesOfARegion() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion target = left.register(64, TestNode.ALL);
    long length = (2L << 30) + 4096;
    try (Arena arena = Arena.ofShared();
        FileChannel file = newFile("sparse")) {
      MemorySegment mapping = file.map(MapMode.READ_WRITE, 0, length, arena);
      mapping.asSlice(length - 64).fill((byte) 9);
      try (MemoryRegion source = right.pd.register(mapping, TestNode.ALL)) {
        ScatterGatherEntry local = new ScatterGatherEntry(target.address(), 64, target.lkey());
        long end = source.address() + length;
        connect(right, ConnectionAttributes.DEFAULT)
            .postSend(List.of(SendWorkRequest.read(1, local, end - 64, source.rkey(), true)));
        assertThat(await(1)).containsExactly(SUCCESS);
      }
    }
    assertThat(left.memory(target).toArray(ValueLayout.JAVA_BYTE)).containsOnly(9);
  }

  private static SocketChannel dial(QueuePairAddress address) throws IOException {
    return SocketChannel.open(
        new InetSocketAddress(address.gid().toInetAddress(), SoftAddress.of(address).port()));
  }

  private static Token tokenOf(QueuePairAddress address) throws VerbsException {
    return SoftAddress.of(address).token();
  }

  @Test
  void connectionWithAWrongTokenIsClosedAndTheRealPeerStillGetsIn() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    a.toInit(TestNode.ALL);
    b.toInit(TestNode.ALL);
    Token wrong = Token.random(new SecureRandom());
    for (QueuePairAddress victim : List.of(a.address(), b.address())) {
      try (SocketChannel socket = dial(victim)) {
        socket.write(new Hello(1, wrong, victim.qpNumber(), wrong).encode());
        assertEndOfStream(socket);
      }
    }
    a.toRtr(b.address(), ConnectionAttributes.DEFAULT);
    b.toRtr(a.address(), ConnectionAttributes.DEFAULT);
    a.toRts();
    MemoryRegion source = right.register(8, TestNode.ALL);
    a.postSend(List.of(read(1, left.register(8, TestNode.ALL), source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void tokenIsGoodForOneConnection() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    TestNode.connect(a, b);
    MemoryRegion source = right.register(8, TestNode.ALL);
    MemoryRegion target = left.register(8, TestNode.ALL);
    a.postSend(List.of(read(1, target, source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
    for (QueuePairAddress[] way :
        new QueuePairAddress[][] {{a.address(), b.address()}, {b.address(), a.address()}}) {
      try (SocketChannel socket = dial(way[1])) {
        socket.write(
            new Hello(way[0].qpNumber(), tokenOf(way[0]), way[1].qpNumber(), tokenOf(way[1]))
                .encode());
        assertEndOfStream(socket);
      }
    }
    a.postSend(List.of(read(2, target, source, 8)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void connectionThatSpeaksAnotherProtocolIsClosed() throws Exception {
    QueuePair queuePair = left.createQueuePair();
    queuePair.toInit(TestNode.ALL);
    try (SocketChannel socket = dial(queuePair.address())) {
      socket.write(ByteBuffer.allocate(Hello.BYTES));
      assertEndOfStream(socket);
    }
  }

  private static void assertEndOfStream(SocketChannel socket) throws IOException {
    assertThat(socket.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  @Test
  void everyQueuePairHasATokenOfItsOwn() throws Exception {
    QueuePair a = left.createQueuePair();
    a.toInit(TestNode.ALL);
    byte[] first = a.address().providerData();
    a.toReset();
    a.toInit(TestNode.ALL);
    assertThat(a.address().providerData()).isNotEqualTo(first);
    assertThat(a.address().toString()).doesNotContain("providerData");
  }

  @Test
  void limitsOfTheDeviceHold() throws Exception {
    DeviceAttributes tiny = new DeviceAttributes(1, 8, 2, 1, 16, 1, 4096, 1, 1, 1, 4096, 0);
    SoftOptions options = SoftOptions.DEFAULT.withLimits(tiny).withLeaks(leaks.tracker());
    QueuePairCapabilities one = new QueuePairCapabilities(1, 1, 1, 1, 0);
    try (Device device = new SoftProvider(options).open(InetAddress.getLoopbackAddress())) {
      ProtectionDomain pd = device.allocateProtectionDomain();
      assertNoRoom(device::allocateProtectionDomain);
      CompletionQueue cq = device.createCompletionQueue(16, null);
      assertNoRoom(() -> device.createCompletionQueue(16, null));
      QueuePair queuePair = pd.createQueuePair(cq, cq, one);
      assertNoRoom(() -> pd.createQueuePair(cq, cq, one));
      MemoryRegion region = pd.register(left.arena.allocate(64), TestNode.ALL);
      assertNoRoom(() -> pd.register(left.arena.allocate(64), TestNode.ALL));
      queuePair.close();
      region.close();
      pd.createQueuePair(cq, cq, one);
      pd.register(left.arena.allocate(64), TestNode.ALL);
    }
  }

  private static void assertNoRoom(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.ENOMEM));
  }

  @Test
  void addressThatIsNotThisMachinesIsAnErrorThatNamesIt() throws Exception {
    InetAddress foreign = InetAddress.getByName("192.0.2.1");
    SoftOptions options = SoftOptions.DEFAULT.withLeaks(leaks.tracker()).withBindAddress(foreign);
    assertThatThrownBy(() -> new SoftProvider(options).open(foreign))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot listen on 192.0.2.1");
  }

  @Test
  void listensEverywhereWhereTheAddressThatPeersUseIsTranslated() throws Exception {
    InetAddress translated = InetAddress.getByName("192.0.2.1");
    SoftOptions options = SoftOptions.DEFAULT.withLeaks(leaks.tracker());
    try (Device device = new SoftProvider(options).open(translated)) {
      assertThat(device.gid()).isEqualTo(Gid.of(translated));
    }
  }

  @Test
  void listensOnAnotherAddressThanPeersUseWhereAsked() throws Exception {
    InetAddress any = InetAddress.getByName("0.0.0.0");
    TestNode right = open(SoftOptions.DEFAULT.withBindAddress(any));
    MemoryRegion source = right.register(64, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT)
        .postSend(List.of(read(1, left.register(64, TestNode.ALL), source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void addressOfAnotherProviderIsRefused() throws Exception {
    QueuePair queuePair = left.createQueuePair();
    queuePair.toInit(TestNode.ALL);
    QueuePairAddress foreign =
        new QueuePairAddress(1, 1, 0, left.device.gid(), 4096, 16, new byte[0]);
    assertThatThrownBy(() -> queuePair.toRtr(foreign, ConnectionAttributes.DEFAULT))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("not one of this version of the software provider");
  }
}
