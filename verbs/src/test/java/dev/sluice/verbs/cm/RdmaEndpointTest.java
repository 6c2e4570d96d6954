// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpEx;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSrq;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Synchronous ids on a real device: endpoints, requests, and a shared receive queue. */
@NeedsRdmaDevice
final class RdmaEndpointTest {
  private static final int ECONNREFUSED = 111;

  private static final IbvQpInitAttr OWN_QUEUES =
      new IbvQpInitAttr(IbvQp.Type.RC, null, null, null, CmNode.CAP, true);

  private final Arena arena = Arena.ofShared();
  private final IbvWcArray completion = new IbvWcArray(arena, 1);
  private RdmaCmId listening;

  @BeforeEach
  void listen() throws Exception {
    try (RdmaAddrInfo any = addrInfo("0", RdmaAddrInfo.Flags.PASSIVE)) {
      listening = RdmaCmId.createEp(any, null, OWN_QUEUES);
    }
    listening.listen(4);
  }

  @AfterEach
  void close() throws Exception {
    listening.close();
    arena.close();
  }

  @Test
  void endpointsOfAResolvedNameConnectAndSend() throws Exception {
    try (RdmaCmId client = client()) {
      FutureTask<Void> connecting = connect(client);
      try (RdmaCmId server = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow()) {
        assertThat(server.event().orElseThrow().privateData()).startsWith(1, 2, 3);
        MemorySegment memory = arena.allocate(64);
        RdmaVerbs verbs = new RdmaVerbs(server, arena, 1);
        verbs.postRecv(5, memory, verbs.regMsgs(memory));
        server.accept(RdmaConnParam.DEFAULT);
        connecting.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS);
        send(client, "by an endpoint");
        assertThat(verbs.getRecvComp(completion, CmNode.TIMEOUT_MS)).isTrue();
        assertThat(completion.wrId(0)).isEqualTo(5);
        assertThat(CString.read(memory)).isEqualTo("by an endpoint");
      }
    }
  }

  @Test
  void aRefusedConnectionIsAnExceptionOfTheSynchronousClient() throws Exception {
    try (RdmaCmId client = client()) {
      FutureTask<Void> connecting = connect(client);
      try (RdmaCmId server = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow()) {
        server.reject(new byte[0]);
        assertThatThrownBy(() -> connecting.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS))
            .cause()
            .isInstanceOfSatisfying(
                VerbsException.class, e -> assertThat(e.errno()).isEqualTo(ECONNREFUSED));
      }
    }
  }

  /** In C, closing the listening id waits for the end of each request. */
  @Test
  void closingAListeningIdClosesUnacceptedRequests() throws Exception {
    try (RdmaCmId client = client();
        RdmaCmId other = client()) {
      FutureTask<Void> connecting = connect(client);
      RdmaCmId unanswered = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow();
      FutureTask<Void> connectingOther = connect(other);
      RdmaCmId refused = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow();
      refused.reject(new byte[0]);
      FutureTask<Void> closing =
          start(
              () -> {
                listening.close();
                return null;
              });
      closing.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS);
      assertThat(unanswered.isClosed()).isTrue();
      assertThat(refused.isClosed()).isTrue();
      for (FutureTask<Void> each : List.of(connecting, connectingOther)) {
        assertThatThrownBy(() -> each.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS))
            .cause()
            .isInstanceOf(VerbsException.class);
      }
    }
  }

  @Test
  void connectionsOutliveTheIdThatListened() throws Exception {
    try (RdmaCmId client = client()) {
      FutureTask<Void> connecting = connect(client);
      try (RdmaCmId server = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow()) {
        MemorySegment memory = arena.allocate(64);
        RdmaVerbs verbs = new RdmaVerbs(server, arena, 1);
        verbs.postRecv(5, memory, verbs.regMsgs(memory));
        server.accept(RdmaConnParam.DEFAULT);
        connecting.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS);
        listening.close();
        send(client, "still there");
        assertThat(comp(server)).isEqualTo(5);
      }
    }
  }

  @Test
  void waitingForARequestEndsAtItsDeadline() throws Exception {
    assertThat(listening.getRequest(1)).isEqualTo(Optional.empty());
  }

  @Test
  void anEndpointThatMovedToAChannelIsAsynchronous() throws Exception {
    try (CmNode node = new CmNode();
        RdmaCmId client = client()) {
      client.migrate(node.channel);
      client.connect(RdmaConnParam.DEFAULT);
      try (RdmaCmId server = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow()) {
        FutureTask<Void> accepting = start(() -> accept(server));
        node.expect(RdmaCmEvent.Type.ESTABLISHED);
        accepting.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS);
      }
    }
  }

  @Test
  void aSynchronousIdResolvesWithoutEvents() throws Exception {
    try (RdmaCmId id = RdmaCmId.create(RdmaCmId.PortSpace.TCP)) {
      id.resolveAddr(null, listening.localAddress(), CmNode.TIMEOUT_MS);
      id.resolveRoute(CmNode.TIMEOUT_MS);
      assertThat(id.peerAddress()).isEqualTo(listening.localAddress());
    }
  }

  @Test
  void connectionsShareAReceiveQueueThatAnIdMade() throws Exception {
    InetSocketAddress address = listening.localAddress();
    listening.close();
    listening = RdmaCmId.create(RdmaCmId.PortSpace.TCP);
    listening.bind(address);
    listening.listen(2);
    IbvSrq srq = listening.createSrq(null, 4, 1);
    assertThat(listening.srq()).isSameAs(srq);
    MemorySegment memory = arena.allocate(128);
    RdmaVerbs receiver = new RdmaVerbs(listening, arena, 1);
    IbvMr mr = receiver.regMsgs(memory);
    receiver.postRecv(0, memory.asSlice(0, 64), mr);
    receiver.postRecv(1, memory.asSlice(64, 64), mr);
    IbvQpInitAttr sharing = new IbvQpInitAttr(IbvQp.Type.RC, null, null, srq, CmNode.CAP, true);
    try (RdmaCmId one = client();
        RdmaCmId two = client();
        RdmaCmId serverOfOne = accepted(one, sharing);
        RdmaCmId serverOfTwo = accepted(two, sharing)) {
      send(two, "first");
      assertThat(comp(serverOfTwo)).isZero();
      assertThat(CString.read(memory)).isEqualTo("first");
      send(one, "second");
      assertThat(comp(serverOfOne)).isEqualTo(1);
      assertThat(CString.read(memory.asSlice(64))).isEqualTo("second");
    }
    srq.close();
    assertThat(listening.srq()).isNull();
  }

  @Test
  void anExtendedQueuePairOfAnIdConnectsAndSends() throws Exception {
    try (RdmaCmId client = RdmaCmId.create(RdmaCmId.PortSpace.TCP)) {
      client.resolveAddr(null, listening.localAddress(), CmNode.TIMEOUT_MS);
      client.resolveRoute(CmNode.TIMEOUT_MS);
      client.createQpEx(null, IbvQpInitAttrEx.of(OWN_QUEUES, IbvQpEx.SendOps.SEND));
      FutureTask<Void> connecting = connect(client);
      try (RdmaCmId server = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow()) {
        MemorySegment memory = arena.allocate(64);
        RdmaVerbs verbs = new RdmaVerbs(server, arena, 1);
        verbs.postRecv(5, memory, verbs.regMsgs(memory));
        server.accept(RdmaConnParam.DEFAULT);
        connecting.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS);
        send(client, "extended");
        assertThat(comp(server)).isEqualTo(5);
        assertThat(CString.read(memory)).isEqualTo("extended");
      }
    }
  }

  private RdmaCmId accepted(RdmaCmId client, IbvQpInitAttr attr) throws Exception {
    FutureTask<Void> connecting = connect(client);
    RdmaCmId server = listening.getRequest(CmNode.TIMEOUT_MS).orElseThrow();
    server.createQp(null, attr);
    server.accept(RdmaConnParam.DEFAULT);
    connecting.get(CmNode.TIMEOUT_MS, TimeUnit.MILLISECONDS);
    return server;
  }

  private long comp(RdmaCmId id) throws Exception {
    assertThat(new RdmaVerbs(id, arena, 1).getRecvComp(completion, CmNode.TIMEOUT_MS)).isTrue();
    assertThat(completion.status(0)).isEqualTo(IbvWcArray.Status.SUCCESS);
    return completion.wrId(0);
  }

  private void send(RdmaCmId id, String text) throws Exception {
    RdmaVerbs verbs = new RdmaVerbs(id, arena, 1);
    MemorySegment message = CString.allocate(arena, text);
    verbs.postSend(1, message, verbs.regMsgs(message), IbvSendWrList.Flags.SIGNALED);
    assertThat(verbs.getSendComp(completion, CmNode.TIMEOUT_MS)).isTrue();
    assertThat(completion.status(0)).isEqualTo(IbvWcArray.Status.SUCCESS);
  }

  private RdmaCmId client() throws Exception {
    String port = String.valueOf(listening.localAddress().getPort());
    try (RdmaAddrInfo address = addrInfo(port, RdmaAddrInfo.Flags.NUMERICHOST)) {
      return RdmaCmId.createEp(address, null, OWN_QUEUES);
    }
  }

  private static FutureTask<Void> connect(RdmaCmId client) {
    return start(
        () -> {
          client.connect(RdmaConnParam.DEFAULT.with(p -> p.privateData = new byte[] {1, 2, 3}));
          return null;
        });
  }

  private static Void accept(RdmaCmId server) throws VerbsException {
    server.accept(RdmaConnParam.DEFAULT);
    return null;
  }

  private static FutureTask<Void> start(Callable<Void> call) {
    FutureTask<Void> task = new FutureTask<>(call);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  private static RdmaAddrInfo addrInfo(String port, int flags) throws Exception {
    return RdmaAddrInfo.get(
        CmNode.deviceAddress().getHostAddress(),
        port,
        new RdmaAddrInfo.Hints(flags, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC));
  }
}
