package dev.sluice.rdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.RdmaDevices;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvMr;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import dev.sluice.rdma.verbs.ibv.IbvWcArray;
import dev.sluice.rdma.verbs.ibv.IbvWcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * One side of a test: an event channel, and what it takes to connect one id. The test's thread
 * drives both sides by turns; the test closes them.
 */
final class CmNode implements AutoCloseable {
  static final int TIMEOUT_MS = 10_000;
  private static final IbvQpCap CAP = new IbvQpCap(8, 8, 1, 1, 0);

  final Arena arena = Arena.ofShared();
  final RdmaEventChannel channel;
  final IbvWcArray completion = new IbvWcArray(arena, 1);
  RdmaCmId id;
  RdmaVerbs verbs;
  MemorySegment memory;
  IbvMr mr;

  CmNode() throws Exception {
    channel = RdmaEventChannel.create();
  }

  static InetAddress deviceAddress() {
    return RdmaDevices.address().orElseThrow();
  }

  /** Starts to listen on any port. */
  InetSocketAddress listen(RdmaPortSpace portSpace) throws Exception {
    RdmaCmId listening = channel.createId(portSpace);
    listening.bind(new InetSocketAddress(deviceAddress(), 0));
    listening.listen(8);
    return listening.localAddress();
  }

  /** Takes the next event, which is to be this one, and acknowledges it. */
  RdmaCmEvent expect(RdmaCmEventType type) throws Exception {
    RdmaCmEvent event = channel.awaitEvent(TIMEOUT_MS).orElseThrow();
    event.close();
    assertThat(event.type()).as(event.toString()).isEqualTo(type);
    return event;
  }

  /** Creates the active id and resolves address and route. */
  void resolve(RdmaPortSpace portSpace, InetSocketAddress server) throws Exception {
    id = channel.createId(portSpace);
    id.resolveAddr(null, server, TIMEOUT_MS);
    expect(RdmaCmEventType.ADDR_RESOLVED);
    id.resolveRoute(TIMEOUT_MS);
    expect(RdmaCmEventType.ROUTE_RESOLVED);
  }

  /** Gives the id a queue pair, and 4 KiB to register. */
  void createQp(IbvQpType type) throws Exception {
    verbs = new RdmaVerbs(id, type, CAP, arena);
    memory = arena.allocate(4096, 4096);
  }

  /** Takes the request for a connection. */
  RdmaCmEvent request() throws Exception {
    RdmaCmEvent request = expect(RdmaCmEventType.CONNECT_REQUEST);
    id = request.id();
    return request;
  }

  /** Connects two nodes by the ids' own reliable queue pairs. */
  static void connect(CmNode server, CmNode client) throws Exception {
    client.resolve(RdmaPortSpace.TCP, server.listen(RdmaPortSpace.TCP));
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.createQp(IbvQpType.RC);
    server.id.accept(RdmaConnParam.DEFAULT);
    client.expect(RdmaCmEventType.ESTABLISHED);
    server.expect(RdmaCmEventType.ESTABLISHED);
  }

  void awaitSent() throws Exception {
    assertThat(verbs.getSendComp(completion, TIMEOUT_MS)).isTrue();
    assertThat(completion.status(0)).isEqualTo(IbvWcStatus.SUCCESS);
  }

  void awaitReceived() throws Exception {
    assertThat(verbs.getRecvComp(completion, TIMEOUT_MS)).isTrue();
    assertThat(completion.status(0)).isEqualTo(IbvWcStatus.SUCCESS);
  }

  @Override
  public void close() throws VerbsException {
    channel.close();
    arena.close();
  }
}
