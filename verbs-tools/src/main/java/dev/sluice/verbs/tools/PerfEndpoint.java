// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.examples.Deadline;
import dev.sluice.examples.Rendezvous;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSge;
import dev.sluice.verbs.tools.RpingConnection.Advertisement;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * One side of a measurement: an RC queue pair, memory of one message for each direction, and
 * reusable lists of work requests. {@link PerfCommand} creates it; {@link BandwidthCommand} or
 * {@link LatencyCommand} uses it on the same thread. At most {@code depth} messages may be
 * outstanding. Closing the port closes everything, then the arena frees the memory.
 */
final class PerfEndpoint {
  /** The {@code wr_id} of messages that this side sends. */
  static final long SENT = 1;

  /** The {@code wr_id} of messages that this side receives. */
  static final long RECEIVED = 2;

  /** Alignment of the messages in memory. */
  private static final int PAGE = 4096;

  private final PerfParameters parameters;
  private final CompletionWait completions;
  private final MemorySegment outgoing;
  private final MemorySegment incoming;
  private final IbvSge local;
  private final IbvSge receive;
  private final LocalPort.Qp qp;
  private final IbvSendWrList sends;
  private final IbvRecvWrList receives;
  private final Advertisement remote;
  private long atomics;

  /** Creates the objects, and connects to the peer. */
  PerfEndpoint(
      LocalPort port, Arena arena, PerfParameters parameters, Rendezvous peer, Deadline deadline)
      throws IOException {
    this.parameters = parameters;
    int depth = parameters.depth();
    // Bandwidth yields between polls, since requests are queued; yielding would add to latency.
    boolean yields = parameters.test() == PerfParameters.Test.BW;
    CompletionWait.Mode polling = yields ? CompletionWait.Mode.YIELD : CompletionWait.Mode.SPIN;
    CompletionWait.Mode mode = parameters.events() ? CompletionWait.Mode.EVENTS : polling;
    completions = new CompletionWait(port.context(), arena, 2 * depth, mode, deadline, false);
    outgoing = arena.allocate(parameters.size(), PAGE);
    incoming = arena.allocate(parameters.size(), PAGE);
    IbvPd pd = port.context().allocPd();
    int access =
        IbvMr.Access.LOCAL_WRITE
            | IbvMr.Access.REMOTE_READ
            | IbvMr.Access.REMOTE_WRITE
            | (parameters.operation().isAtomic() ? IbvMr.Access.REMOTE_ATOMIC : 0);
    IbvMr outgoingRegion = pd.regMr(outgoing, access);
    IbvMr incomingRegion = pd.regMr(incoming, access);
    // READs and atomics fetch from the peer's outgoing memory; WRITEs go to its incoming memory.
    boolean reads = parameters.operation().fetches();
    receive = IbvSge.of(incoming, incomingRegion);
    local = reads ? receive : IbvSge.of(outgoing, outgoingRegion);
    IbvQpCap cap = new IbvQpCap(depth, depth, 1, 1, 0);
    IbvQp created = pd.createQp(IbvQpInitAttr.of(IbvQp.Type.RC, completions.cq(), cap));
    qp = port.toInit(created, LocalPort.newPsn(), access);
    sends = new IbvSendWrList(arena, depth, 1);
    receives = new IbvRecvWrList(arena, depth, 1);
    for (long i = 0; i < outgoing.byteSize(); i++) {
      outgoing.set(JAVA_BYTE, i, pattern(i));
    }
    if (parameters.operation() == PerfParameters.Operation.SEND) {
      postReceives(depth);
    }
    remote = connect(peer, reads ? outgoingRegion : incomingRegion);
  }

  /** Exchanges addresses and connects. Returns the peer's memory. */
  private Advertisement connect(Rendezvous peer, IbvMr exported) throws IOException {
    peer.write(qp.address().toWire());
    peer.write(new Advertisement(exported.address(), exported.rkey(), parameters.size()).toWire());
    QpAddress address = QpAddress.fromWire(peer.read(QpAddress.WIRE_LENGTH, "its address"));
    Advertisement memory =
        Advertisement.fromWire(peer.read(Advertisement.WIRE_LENGTH, "its memory"));
    qp.connect(address, qp.port().mtu(parameters.mtu()), parameters.readsInFlight());
    peer.sync("that it is connected");
    return memory;
  }

  private static byte pattern(long index) {
    return (byte) (index * 31 + 7);
  }

  PerfParameters parameters() {
    return parameters;
  }

  CompletionWait completions() {
    return completions;
  }

  /** Marks the next message to send, in its last byte. */
  void mark(byte value) {
    outgoing.set(JAVA_BYTE, outgoing.byteSize() - 1, value);
  }

  /** Reads the last byte of the last message that the peer wrote here. */
  byte receivedMark() {
    VarHandle.acquireFence(); // The device writes the byte.
    return incoming.get(JAVA_BYTE, incoming.byteSize() - 1);
  }

  /**
   * Compares the received message with the peer's, except the last byte, which may be a mark. Call
   * it on the side that receives, when both sides are done.
   *
   * @throws IOException if they differ
   */
  void check() throws IOException {
    if (parameters.operation().isAtomic()) {
      checkAtomics();
      return;
    }
    for (long i = 0; i < incoming.byteSize() - 1; i++) {
      if (incoming.get(JAVA_BYTE, i) != pattern(i)) {
        throw new IOException("invalid data at byte " + i + " of the message");
      }
    }
  }

  /** Checks the number that the last atomic fetched. */
  private void checkAtomics() throws IOException {
    long added = parameters.operation() == PerfParameters.Operation.FETCH_ADD ? atomics - 1 : 0;
    long expected = outgoing.get(JAVA_LONG, 0) + added;
    long fetched = incoming.get(JAVA_LONG, 0);
    if (fetched != expected) {
      throw new IOException(
          "the last of " + atomics + " atomics fetched " + fetched + " instead of " + expected);
    }
  }

  /**
   * Adds a message to the list that {@link #postSends} posts and empties.
   *
   * @param signaled true if the message raises a completion
   */
  void addSend(boolean signaled) {
    addSend(parameters.operation().opcode, signaled ? IbvSendWrList.Flags.SIGNALED : 0);
    if (parameters.operation().isAtomic()) {
      boolean adds = parameters.operation() == PerfParameters.Operation.FETCH_ADD;
      long start = outgoing.get(JAVA_LONG, 0); // the peer's memory starts with the same bytes
      sends.atomic(remote.address(), remote.rkey(), adds ? 1 : start, start);
      atomics++;
    } else if (parameters.operation() != PerfParameters.Operation.SEND) {
      sends.rdma(remote.address(), remote.rkey());
    }
  }

  /** Adds the last SEND, which the receiver recognizes by its immediate data. */
  void addLastSend() {
    addSend(IbvSendWrList.Opcode.SEND_WITH_IMM, IbvSendWrList.Flags.SIGNALED);
  }

  private void addSend(IbvSendWrList.Opcode opcode, int flags) {
    sends.add(SENT, opcode, flags).sge(local.address(), local.length(), local.lkey());
  }

  /** Posts a message that raises a completion. */
  void postSend() throws IOException {
    addSend(true);
    postSends();
  }

  void postSends() throws IOException {
    qp.qp().postSend(sends);
    sends.clear();
  }

  void postReceives(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      receives.add(RECEIVED).sge(receive.address(), receive.length(), receive.lkey());
    }
    qp.qp().postRecv(receives);
    receives.clear();
  }
}
