// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.RdmaDevices;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * One side of a test: an event channel, and the objects to connect one id. The test's thread drives
 * both sides in turn. The test closes them.
 */
final class CmNode implements AutoCloseable {
  static final int TIMEOUT_MS = 10_000;
  static final IbvQpCap CAP = new IbvQpCap(8, 8, 2, 2, 0);

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
  InetSocketAddress listen(RdmaCmId.PortSpace portSpace) throws Exception {
    RdmaCmId listening = channel.createId(portSpace);
    listening.bind(new InetSocketAddress(deviceAddress(), 0));
    listening.listen(8);
    return listening.localAddress();
  }

  /** Takes the next event, which must be of the given type, and acknowledges it. */
  RdmaCmEvent expect(RdmaCmEvent.Type type) throws Exception {
    RdmaCmEvent event = channel.awaitEvent(TIMEOUT_MS).orElseThrow();
    event.close();
    assertThat(event.type().is(type)).as(event.toString()).isTrue();
    return event;
  }

  /** Creates the active id and resolves address and route. */
  void resolve(RdmaCmId.PortSpace portSpace, InetSocketAddress server) throws Exception {
    id = channel.createId(portSpace);
    id.resolveAddr(null, server, TIMEOUT_MS);
    expect(RdmaCmEvent.Type.ADDR_RESOLVED);
    id.resolveRoute(TIMEOUT_MS);
    expect(RdmaCmEvent.Type.ROUTE_RESOLVED);
  }

  /** Creates the id's queue pair and 4 KiB of memory to register. */
  void createQp(IbvQp.Type type) throws Exception {
    id.createQp(null, new IbvQpInitAttr(type, null, null, null, CAP, false));
    verbs = new RdmaVerbs(id, arena, CAP.maxSendSge());
    memory = arena.allocate(4096, 4096);
  }

  /** Takes a connection request. */
  RdmaCmEvent request() throws Exception {
    RdmaCmEvent request = expect(RdmaCmEvent.Type.CONNECT_REQUEST);
    id = request.id();
    return request;
  }

  /** Connects two nodes through the ids' own reliable queue pairs. */
  static void connect(CmNode server, CmNode client) throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    client.createQp(IbvQp.Type.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.createQp(IbvQp.Type.RC);
    server.id.accept(RdmaConnParam.DEFAULT);
    client.expect(RdmaCmEvent.Type.ESTABLISHED);
    server.expect(RdmaCmEvent.Type.ESTABLISHED);
  }

  void awaitSent() throws Exception {
    assertThat(verbs.getSendComp(completion, TIMEOUT_MS)).isTrue();
    assertThat(completion.status(0)).isEqualTo(IbvWcArray.Status.SUCCESS);
  }

  void awaitReceived() throws Exception {
    assertThat(verbs.getRecvComp(completion, TIMEOUT_MS)).isTrue();
    assertThat(completion.status(0)).isEqualTo(IbvWcArray.Status.SUCCESS);
  }

  @Override
  public void close() throws VerbsException {
    channel.close();
    arena.close();
  }
}
