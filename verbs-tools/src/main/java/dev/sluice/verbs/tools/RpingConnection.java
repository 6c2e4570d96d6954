// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ibv.IbvCompChannel;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * One side of rping: a queue pair of rdma_cm, a message in each direction, and data. Sleeps on
 * events of the completion queue and of the connection at once. {@link RpingClient} and {@link
 * RpingServer} use it on one thread. They close the event channel, which closes everything.
 */
final class RpingConnection {
  /** Allows one READ or WRITE at a time in either direction. Both sides must use these numbers. */
  static final RdmaConnParam PARAM =
      RdmaConnParam.DEFAULT.with(
          p -> {
            p.responderResources = 1;
            p.initiatorDepth = 1;
          });

  private static final long TRANSFER = 1;
  private static final long MESSAGE = 2;

  private final RdmaEventChannel events;
  private final Deadline deadline;
  private final IbvCompChannel channel;
  private final IbvCq cq;
  private final IbvWcArray completion;
  private final IbvQp qp;
  private final IbvPd pd;
  private final IbvMr outgoing;
  private final IbvMr incoming;
  private final MemorySegment outgoingBytes;
  private final MemorySegment incomingBytes;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;
  private boolean received;
  private boolean disconnected;

  /** Creates the queue pair and posts the first receive. */
  RpingConnection(RdmaEventChannel events, RdmaCmId id, Arena arena, Deadline deadline)
      throws VerbsException {
    this.events = events;
    this.deadline = deadline;
    channel = id.context().createCompChannel();
    cq = id.context().createCq(4, channel, 0);
    completion = new IbvWcArray(arena, 1);
    pd = id.context().allocPd();
    qp = id.createQp(pd, IbvQpInitAttr.of(IbvQp.Type.RC, cq, new IbvQpCap(2, 2, 1, 1, 0)));
    outgoingBytes = arena.allocate(RpingAdvertisement.WIRE_LENGTH, Long.BYTES);
    incomingBytes = arena.allocate(RpingAdvertisement.WIRE_LENGTH, Long.BYTES);
    outgoing = pd.regMr(outgoingBytes, 0);
    incoming = pd.regMr(incomingBytes, IbvMr.Access.LOCAL_WRITE);
    sends = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, 1, 1);
    postReceive();
  }

  /** Registers memory that the peer may READ and WRITE. */
  IbvMr register(MemorySegment memory) throws VerbsException {
    return pd.regMr(
        memory, IbvMr.Access.LOCAL_WRITE | IbvMr.Access.REMOTE_READ | IbvMr.Access.REMOTE_WRITE);
  }

  /**
   * Sends a message. The peer may disconnect before the SEND completes; {@link #receive} then
   * returns empty.
   */
  void send(RpingAdvertisement message) throws IOException {
    outgoingBytes.copyFrom(MemorySegment.ofArray(message.toWire()));
    sends.clear();
    sends
        .add(TRANSFER, IbvSendWrList.Opcode.SEND, IbvSendWrList.Flags.SIGNALED)
        .sge(outgoing.address(), RpingAdvertisement.WIRE_LENGTH, outgoing.lkey());
    finish("a SEND");
  }

  /**
   * @param opcode READ or WRITE
   */
  void transfer(IbvSendWrList.Opcode opcode, IbvMr local, RpingAdvertisement remote, int bytes)
      throws IOException {
    sends.clear();
    sends
        .add(TRANSFER, opcode, IbvSendWrList.Flags.SIGNALED)
        .sge(local.address(), bytes, local.lkey())
        .rdma(remote.address(), remote.rkey());
    if (!finish(opcode.toString())) {
      throw new IOException("the peer disconnected before the end of " + opcode);
    }
  }

  /** Waits for a completion. Returns false if the peer disconnected before. */
  private boolean finish(String operation) throws IOException {
    qp.postSend(sends);
    long completed = awaitCompletion(operation);
    while (completed == MESSAGE) {
      completed = awaitCompletion(operation);
    }
    return completed == TRANSFER;
  }

  /**
   * Waits for the peer's next message.
   *
   * @return empty if the peer disconnected instead
   */
  Optional<RpingAdvertisement> receive() throws IOException {
    while (!received && !disconnected) {
      awaitCompletion("the peer's message");
    }
    if (!received) {
      return Optional.empty();
    }
    received = false;
    RpingAdvertisement message = RpingAdvertisement.fromWire(incomingBytes.toArray(JAVA_BYTE));
    postReceive();
    return Optional.of(message);
  }

  private void postReceive() throws VerbsException {
    receives.clear();
    receives.add(MESSAGE).sge(incoming.address(), RpingAdvertisement.WIRE_LENGTH, incoming.lkey());
    qp.postRecv(receives);
  }

  /**
   * Waits for one completion, or for the end of the connection.
   *
   * @return the {@code wr_id} of the completion; 0 at the end of the connection
   */
  private long awaitCompletion(String awaited) throws IOException {
    while (true) {
      int count = cq.poll(completion);
      if (count == 0 && disconnected) {
        return 0;
      }
      if (count == 0) {
        cq.requestNotify(false);
        count = cq.poll(completion);
      }
      if (count > 0) {
        return checked(awaited);
      }
      sleep(awaited);
    }
  }

  private void sleep(String awaited) throws IOException {
    long ready = FileDescriptors.awaitReadable(deadline.leftMs(awaited), channel.fd(), events.fd());
    if ((ready & 1) != 0) {
      channel.getEvent();
      cq.acknowledgeEvents();
    }
    if ((ready & 2) != 0) {
      takeEvent();
    }
  }

  private void takeEvent() throws IOException {
    Optional<RdmaCmEvent> event = events.getEvent();
    if (event.isPresent()) {
      try (RdmaCmEvent taken = event.get()) {
        disconnected |= taken.type().is(RdmaCmEvent.Type.DISCONNECTED);
      }
    }
  }

  private long checked(String awaited) throws IOException {
    if (completion.status(0) != IbvWcArray.Status.SUCCESS) {
      throw new IOException(awaited + " failed: " + completion.statusText(0));
    }
    received |= completion.wrId(0) == MESSAGE;
    return completion.wrId(0);
  }
}
