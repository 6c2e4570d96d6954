package dev.sluice.rdma.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.cm.RdmaCmEvent;
import dev.sluice.rdma.verbs.cm.RdmaCmEventType;
import dev.sluice.rdma.verbs.cm.RdmaCmId;
import dev.sluice.rdma.verbs.cm.RdmaConnParam;
import dev.sluice.rdma.verbs.cm.RdmaEventChannel;
import dev.sluice.rdma.verbs.ffi.FileDescriptors;
import dev.sluice.rdma.verbs.ibv.IbvAccess;
import dev.sluice.rdma.verbs.ibv.IbvCompChannel;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvMr;
import dev.sluice.rdma.verbs.ibv.IbvPd;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpInitAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import dev.sluice.rdma.verbs.ibv.IbvRecvWrList;
import dev.sluice.rdma.verbs.ibv.IbvSendFlags;
import dev.sluice.rdma.verbs.ibv.IbvSendWrList;
import dev.sluice.rdma.verbs.ibv.IbvWcArray;
import dev.sluice.rdma.verbs.ibv.IbvWcStatus;
import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * One side of an rping: a queue pair by rdma_cm, a message in each direction, and data. Sleeps on
 * events of the completion queue and of the connection at once. One thread; everything is closed
 * with the event channel.
 */
final class RpingConnection {
  /** One READ or WRITE at a time in either direction; both sides must find the same. */
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

  /** Makes the queue pair and posts the first receive. */
  RpingConnection(RdmaEventChannel events, RdmaCmId id, Arena arena, Deadline deadline)
      throws VerbsException {
    this.events = events;
    this.deadline = deadline;
    channel = id.context().createCompChannel();
    cq = id.context().createCq(4, channel, 0);
    completion = new IbvWcArray(arena, 1);
    pd = id.context().allocPd();
    qp = id.createQp(pd, IbvQpInitAttr.of(IbvQpType.RC, cq, new IbvQpCap(2, 2, 1, 1, 0)));
    outgoingBytes = arena.allocate(RpingAdvertisement.WIRE_LENGTH, Long.BYTES);
    incomingBytes = arena.allocate(RpingAdvertisement.WIRE_LENGTH, Long.BYTES);
    outgoing = pd.regMr(outgoingBytes, 0);
    incoming = pd.regMr(incomingBytes, IbvAccess.LOCAL_WRITE);
    sends = new IbvSendWrList(arena, 1, 1);
    receives = new IbvRecvWrList(arena, 1, 1);
    postReceive();
  }

  /** Waits for an event of the connection. */
  static RdmaCmEvent await(RdmaEventChannel events, RdmaCmEventType type, Deadline deadline)
      throws IOException {
    Optional<RdmaCmEvent> event = Optional.empty();
    while (event.isEmpty()) {
      event = events.awaitEvent(deadline.leftMs("the connection's event " + type));
    }
    try (RdmaCmEvent taken = event.get()) {
      if (taken.type() != type) {
        throw new IOException(taken.text() + " (status " + taken.status() + ") instead of " + type);
      }
      return taken;
    }
  }

  /** Memory that the peer may READ and WRITE. */
  IbvMr register(MemorySegment memory) throws VerbsException {
    return pd.regMr(memory, IbvAccess.LOCAL_WRITE | IbvAccess.REMOTE_READ | IbvAccess.REMOTE_WRITE);
  }

  /**
   * Sends a message. A peer that has what it wanted may disconnect before the SEND is seen to be
   * acknowledged, which {@link #receive} then tells.
   */
  void send(RpingAdvertisement message) throws IOException {
    outgoingBytes.copyFrom(MemorySegment.ofArray(message.toWire()));
    sends.clear();
    sends
        .add(TRANSFER, IbvWrOpcode.SEND, IbvSendFlags.SIGNALED)
        .sge(outgoing.address(), RpingAdvertisement.WIRE_LENGTH, outgoing.lkey());
    finish("a SEND");
  }

  /**
   * @param opcode READ or WRITE
   */
  void transfer(IbvWrOpcode opcode, IbvMr local, RpingAdvertisement remote, int bytes)
      throws IOException {
    sends.clear();
    sends
        .add(TRANSFER, opcode, IbvSendFlags.SIGNALED)
        .sge(local.address(), bytes, local.lkey())
        .rdma(remote.address(), remote.rkey());
    if (!finish(opcode.toString())) {
      throw new IOException("the peer disconnected before the end of " + opcode);
    }
  }

  /** False when the peer disconnected before the completion came. */
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
   * @return empty when it disconnected instead
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
   * @return what was completed; 0 at the end of the connection
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
        disconnected |= taken.type() == RdmaCmEventType.DISCONNECTED;
      }
    }
  }

  private long checked(String awaited) throws IOException {
    if (completion.status(0) != IbvWcStatus.SUCCESS) {
      throw new IOException(awaited + " failed: " + completion.statusText(0));
    }
    received |= completion.wrId(0) == MESSAGE;
    return completion.wrId(0);
  }
}
