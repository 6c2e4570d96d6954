// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;

import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.cm.RdmaUdParam;
import dev.sluice.verbs.cm.RdmaVerbs;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvGrh;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSrq;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One side of an rdma_cm program: an id's queue pair, and a buffer for each direction. The programs
 * make one for each connected id, and use it on their one thread. It sleeps on completion events.
 * Closing the id closes everything but the arena, which is the caller's.
 */
public final class CmEndpoint {
  private final RdmaCmId id;
  private final RdmaVerbs verbs;
  private final IbvWcArray completion;
  private final MemorySegment outgoing;
  private final MemorySegment incoming;
  private final IbvMr sendMr;
  private final IbvMr recvMr;
  private final IbvSendWrList sends;
  private final int header;
  private final Deadline deadline;

  /**
   * Creates the queue pair and registers the buffers.
   *
   * @param type RC, or UD for datagrams
   * @param messages maximum number of messages in flight in each direction
   * @param size bytes of a message
   * @param srq shared receive queue that replaces the receive queue; null for none
   */
  CmEndpoint(
      RdmaCmId id,
      IbvQp.Type type,
      int messages,
      int size,
      @Nullable IbvSrq srq,
      Arena arena,
      Deadline deadline)
      throws IOException {
    this.id = id;
    this.deadline = deadline;
    header = type == IbvQp.Type.UD ? (int) IbvGrh.BYTES : 0;
    if (type == IbvQp.Type.UD) {
      checkSize(size);
    }
    IbvQpCap cap = new IbvQpCap(messages, messages, 1, 1, 0);
    id.createQp(null, new IbvQpInitAttr(type, null, null, srq, cap, true));
    verbs = new RdmaVerbs(id, arena, 1);
    completion = new IbvWcArray(arena, 1);
    sends = new IbvSendWrList(arena, 1, 1);
    outgoing = arena.allocate(size);
    incoming = arena.allocate(header + size);
    sendMr = verbs.regMsgs(outgoing);
    recvMr = verbs.regMsgs(incoming);
  }

  private void checkSize(int size) throws IOException {
    int mtu =
        id.context()
            .queryPort(id.portNum())
            .activeMtu()
            .known()
            .map(IbvPortAttr.Mtu::bytes)
            .orElse(256);
    if (size > mtu) {
      throw new IOException(
          "a datagram of " + size + " bytes exceeds the port's MTU of " + mtu + " bytes");
    }
  }

  /** Waits for an event, which must be of the given type. */
  public static RdmaCmEvent await(RdmaEventChannel events, RdmaCmEvent.Type type, Deadline deadline)
      throws IOException {
    Optional<RdmaCmEvent> event = Optional.empty();
    while (event.isEmpty()) {
      event = events.awaitEvent(deadline.leftMs("the connection's event " + type));
    }
    try (RdmaCmEvent taken = event.get()) { // acknowledges it
      if (!taken.type().is(type)) {
        throw new IOException(taken.text() + " (status " + taken.status() + ") instead of " + type);
      }
      return taken;
    }
  }

  RdmaCmId id() {
    return id;
  }

  /** Posts receives of one message each. Call it before the peer can send. */
  void postReceives(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      verbs.postRecv(i, incoming, recvMr);
    }
  }

  /** Sets the text of the messages to send. A message carries as much of it as fits. */
  void text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    MemorySegment.copy(
        MemorySegment.ofArray(bytes), 0, outgoing, 0, Math.min(bytes.length, outgoing.byteSize()));
  }

  /** Sends over the connection. */
  void send() throws IOException {
    verbs.postSend(0, outgoing, sendMr, 0);
    awaitSent();
  }

  /** Sends a datagram with the local queue pair's number, to which the peer sends answers. */
  void send(IbvAh ah, RdmaUdParam to) throws IOException {
    sends.clear();
    sends
        .add(0, IbvSendWrList.Opcode.SEND_WITH_IMM, 0)
        .sge(outgoing.address(), (int) outgoing.byteSize(), sendMr.lkey())
        .datagram(ah, to.qpNum(), to.qkey())
        .immediate(requireNonNull(id.qp()).qpNum());
    requireNonNull(id.qp()).postSend(sends);
    awaitSent();
  }

  private void awaitSent() throws IOException {
    check(verbs.getSendComp(completion, deadline.leftMs("a SEND")), "a SEND");
  }

  /** Waits for a message and returns its text. */
  String receive() throws IOException {
    check(verbs.getRecvComp(completion, deadline.leftMs("a message")), "a message");
    byte[] bytes = incoming.asSlice(header, completion.byteLength(0) - header).toArray(JAVA_BYTE);
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  /** Number of the sender's queue pair, which came with the last datagram. */
  int senderQpNum() {
    return completion.immediate(0);
  }

  private void check(boolean completed, String awaited) throws IOException {
    if (!completed) {
      deadline.leftMs(awaited);
      throw new IOException(awaited + ": no completion in time");
    }
    if (completion.status(0) != IbvWcArray.Status.SUCCESS) {
      throw new IOException(awaited + " failed: " + completion.statusText(0));
    }
  }
}
