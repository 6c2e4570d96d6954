// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static dev.sluice.verbs.ibv.IbvSendWrList.Flags.SIGNALED;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.examples.Deadline;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.cm.RdmaVerbs;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * One side of rping: a queue pair of rdma_cm, a message in each direction, and data. Sleeps on
 * events of the completion queue and of the connection at once. {@link RpingCommand} creates one
 * and uses it on the command's thread. Closing the event channel closes everything.
 */
final class RpingConnection {
  /** Allows one READ or WRITE at a time in either direction. Both sides must use these numbers. */
  static final RdmaConnParam PARAM =
      RdmaConnParam.DEFAULT.with(
          p -> {
            p.responderResources = 1;
            p.initiatorDepth = 1;
          });

  /** Message whose numbers the receiver ignores. */
  static final Advertisement GO_AHEAD = new Advertisement(0, 0, 0);

  private static final long TRANSFER = 1;
  private static final long MESSAGE = 2;

  private final RdmaEventChannel events;
  private final CompletionWait completions;
  private final IbvPd pd;
  private final RdmaVerbs verbs;
  private final IbvMr outgoing;
  private final IbvMr incoming;
  private final MemorySegment outgoingBytes;
  private final MemorySegment incomingBytes;
  private boolean disconnected;

  /** The requests that have completed and were not awaited yet: the bits TRANSFER and MESSAGE. */
  private long completed;

  /**
   * A message, which names memory that the peer may READ or WRITE, in the format of C. {@link
   * PerfEndpoint} sends it too.
   *
   * @param size bytes
   */
  record Advertisement(long address, int rkey, int size) {
    /** Bytes on the wire: a 64-bit number and two of 32 bits in network byte order. */
    static final int WIRE_LENGTH = Long.BYTES + 2 * Integer.BYTES;

    byte[] toWire() {
      return ByteBuffer.allocate(WIRE_LENGTH).putLong(address).putInt(rkey).putInt(size).array();
    }

    static Advertisement fromWire(byte[] bytes) {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      return new Advertisement(in.getLong(), in.getInt(), in.getInt());
    }

    /** Omits the key. */
    @Override
    public String toString() {
      return size + " bytes at 0x" + Long.toHexString(address);
    }
  }

  /** Creates the queue pair and posts the first receive. */
  RpingConnection(RdmaEventChannel events, RdmaCmId id, Arena arena, Deadline deadline)
      throws IOException {
    this.events = events;
    completions =
        new CompletionWait(id.context(), arena, 4, CompletionWait.Mode.EVENTS, deadline, false);
    pd = id.context().allocPd();
    IbvQpCap cap = new IbvQpCap(2, 2, 1, 1, 0);
    id.createQp(pd, IbvQpInitAttr.of(IbvQp.Type.RC, completions.cq(), cap));
    verbs = new RdmaVerbs(id, arena, 1);
    outgoingBytes = arena.allocate(Advertisement.WIRE_LENGTH, Long.BYTES);
    incomingBytes = arena.allocate(Advertisement.WIRE_LENGTH, Long.BYTES);
    outgoing = pd.regMr(outgoingBytes, 0);
    incoming = verbs.regMsgs(incomingBytes);
    postReceive();
  }

  /** Registers memory that the peer may READ and WRITE. */
  IbvMr register(MemorySegment memory) throws VerbsException {
    return pd.regMr(
        memory, IbvMr.Access.LOCAL_WRITE | IbvMr.Access.REMOTE_READ | IbvMr.Access.REMOTE_WRITE);
  }

  /**
   * Sends a message. If the peer disconnects before its end, {@link #receive} returns empty, or
   * fails with the status of the SEND.
   */
  void send(Advertisement message) throws IOException {
    outgoingBytes.copyFrom(MemorySegment.ofArray(message.toWire()));
    verbs.postSend(TRANSFER, outgoingBytes, outgoing, SIGNALED);
    await(TRANSFER, "a SEND");
  }

  void read(MemorySegment data, IbvMr mr, Advertisement source) throws IOException {
    verbs.postRead(TRANSFER, data, mr, SIGNALED, source.address(), source.rkey());
    finish("RDMA_READ");
  }

  void write(MemorySegment data, IbvMr mr, Advertisement sink) throws IOException {
    verbs.postWrite(TRANSFER, data, mr, SIGNALED, sink.address(), sink.rkey());
    finish("RDMA_WRITE");
  }

  private void finish(String operation) throws IOException {
    if (!await(TRANSFER, operation)) {
      throw new IOException("the peer disconnected before the end of " + operation);
    }
  }

  /** Waits for the peer's next message; empty if the peer disconnected instead. */
  Optional<Advertisement> receive() throws IOException {
    if (!await(MESSAGE, "the peer's message")) {
      return Optional.empty();
    }
    Advertisement message = Advertisement.fromWire(incomingBytes.toArray(JAVA_BYTE));
    postReceive();
    return Optional.of(message);
  }

  private void postReceive() throws VerbsException {
    verbs.postRecv(MESSAGE, incomingBytes, incoming);
  }

  /** Waits until a request has completed. Returns false if the peer disconnected before. */
  private boolean await(long request, String awaited) throws IOException {
    while ((completed & request) == 0) {
      int count =
          disconnected ? completions.poll(awaited) : completions.await(awaited, events.fd());
      for (int i = 0; i < count; i++) {
        completed |= completions.wrId(i);
      }
      if (count == 0 && disconnected) {
        return false;
      }
      if (count == 0) {
        takeEvent();
      }
    }
    completed &= ~request;
    return true;
  }

  private void takeEvent() throws IOException {
    try (RdmaCmEvent event = events.getEvent().orElse(null)) {
      disconnected |= event != null && event.type().is(RdmaCmEvent.Type.DISCONNECTED);
    }
  }
}
