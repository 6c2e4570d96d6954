// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.fuzz.Allocation;
import dev.sluice.rdma.soft.FrameHeader.FrameType;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftAddress.Token;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Sends arbitrary bytes as a peer of a software connection, which must end in a closed connection.
 * Memory that the peer may not write stays unchanged, and the peer gets only bytes that it may
 * READ. No READ succeeds without its bytes, and allocation stays in proportion to the bytes sent.
 *
 * <p>The first byte of an input chooses the queue pair, and the second one the size of the pieces
 * in which the rest arrives. Addresses and keys in the rest are relative, so that an input means
 * the same in every process.
 */
public final class SoftFramesFuzz {
  private static final int GUARD_BYTES = 4096;
  private static final int REGION_BYTES = 64 << 10;
  private static final int READ_BYTES = 100;
  private static final int LONG_READ_BYTES = 600;
  private static final byte GUARD = 0x77;
  private static final byte SOURCE = 0x11;
  private static final int MAX_TURNS = 5_000;
  private static final long BASE_ALLOCATION_BYTES = 64 << 10;
  private static final long ALLOCATION_PER_BYTE = 64;
  private static final Set<AccessFlag> REMOTE_READ = EnumSet.of(AccessFlag.REMOTE_READ);
  private static final Set<AccessFlag> LOCAL_WRITE = EnumSet.of(AccessFlag.LOCAL_WRITE);
  private static final int PEER_QP = 7;

  /** Queue pair that the input talks to: those of the product, and one with both roles. */
  private enum Role {
    SERVING(REMOTE_READ),
    READING(Set.of()),
    BOTH(REMOTE_READ);

    private final Set<AccessFlag> access;

    Role(Set<AccessFlag> access) {
      this.access = access;
    }
  }

  private static final SoftFramesFuzz FUZZ = new SoftFramesFuzz();

  private final TestNode node;
  private final LocalStream stream;
  private final Token token = Token.random(new SecureRandom());
  private final MemorySegment memory;
  private final MemorySegment expected;
  private final MemoryRegion source;
  private final MemoryRegion target;

  private SoftFramesFuzz() {
    try {
      node =
          new TestNode(
              new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress()));
      stream = new LocalStream();
      memory = node.arena.allocate(3L * GUARD_BYTES + 2L * REGION_BYTES, GUARD_BYTES);
      memory.fill(GUARD);
      source = region(0, REMOTE_READ);
      target = region(1, LOCAL_WRITE);
      piece(0).fill(SOURCE);
      expected = node.arena.allocate(memory.byteSize()).copyFrom(memory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private MemoryRegion region(int index, Set<AccessFlag> access) throws IOException {
    return node.pd.register(piece(index), access);
  }

  private MemorySegment piece(int index) {
    return memory.asSlice(GUARD_BYTES + (long) index * (GUARD_BYTES + REGION_BYTES), REGION_BYTES);
  }

  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length > 2) {
      Allocation.handle(() -> FUZZ.run(input));
    }
  }

  private void run(byte[] input) {
    try {
      run(
          Role.values()[Byte.toUnsignedInt(input[0]) % Role.values().length],
          input[1],
          ByteBuffer.allocate(input.length - 2).put(input, 2, input.length - 2).flip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void run(Role role, byte pieces, ByteBuffer input) throws IOException {
    relocate(input, source);
    QueuePair queuePair = node.createQueuePair();
    try (LocalStream.Ends ends = stream.open()) {
      connect((SoftQueuePair) queuePair, role, ends);
      send(input, pieces, ends);
      assertThat(ends.isClosed()).as("closed at the end of the stream").isTrue();
      assertAnswersAreOfTheSource(role, ends.received());
      assertCompletions(input.limit());
    } finally {
      queuePair.close();
    }
    assertMemoryIsUntouched(role);
  }

  /**
   * Converts relative addresses and keys to those of the region, frame by frame as a queue pair
   * reads them.
   */
  private static void relocate(ByteBuffer frames, MemoryRegion region) {
    long at = 0;
    while (at + FrameHeader.BYTES <= frames.limit()) {
      int start = (int) at;
      frames.putLong(start + 8, frames.getLong(start + 8) + region.address());
      frames.putInt(start + 16, frames.getInt(start + 16) ^ region.rkey());
      boolean payload = FrameType.of(frames.getShort(start)) == FrameType.DATA;
      at += FrameHeader.BYTES;
      at += payload ? Math.max(0, frames.getInt(start + 4)) : 0;
    }
  }

  private void connect(SoftQueuePair queuePair, Role role, LocalStream.Ends ends)
      throws IOException {
    queuePair.toInit(role.access);
    QueuePairAddress address = queuePair.address();
    byte[] peer = new SoftAddress(address.gid(), 1, PEER_QP, token).toProviderData();
    queuePair.toRtr(
        new QueuePairAddress(PEER_QP, 0, 0, address.gid(), 4096, 16, peer),
        ConnectionAttributes.DEFAULT);
    queuePair.toRts();
    if (role != Role.SERVING) {
      queuePair.postSend(List.of(read(1, READ_BYTES), read(2, LONG_READ_BYTES)));
    }
    Hello hello = new Hello(PEER_QP, token, address.qpNumber(), SoftAddress.of(address).token());
    queuePair.introduce(hello, ends.key());
  }

  private SendWorkRequest read(long wrId, int bytes) {
    ScatterGatherEntry local = new ScatterGatherEntry(target.address(), bytes, target.lkey());
    return new SendWorkRequest(wrId, local, 0, 0, true);
  }

  private void send(ByteBuffer input, byte pieces, LocalStream.Ends ends) throws IOException {
    Random random = new Random(pieces);
    int whole = input.limit();
    long limitBytes = BASE_ALLOCATION_BYTES + ALLOCATION_PER_BYTE * whole;
    for (int at = 0; at < whole; at = input.limit()) {
      int bytes = pieces == 0 ? whole : 1 + random.nextInt(200);
      ends.write(input.limit(Math.min(whole, at + bytes)));
      Allocation.assertWithin(limitBytes, stream::turn);
      ends.receive();
    }
    ends.end();
    for (int turn = 0; !ends.isClosed() && turn < MAX_TURNS; turn++) {
      Allocation.assertWithin(limitBytes, stream::turn);
      ends.receive();
    }
  }

  private static void assertAnswersAreOfTheSource(Role role, ByteBuffer received)
      throws IOException {
    FrameHeader header = new FrameHeader();
    while (received.remaining() >= FrameHeader.BYTES) {
      header.decode(received);
      assertThat(header.type == FrameType.READ && role == Role.SERVING).isFalse();
      int bytes = header.type == FrameType.DATA ? header.length : 0;
      for (int left = Math.min(bytes, received.remaining()); left > 0; left--) {
        if (received.get() != SOURCE) {
          throw new AssertionError("a byte from outside of the region");
        }
      }
    }
  }

  /** A READ needs at least a header and its bytes to succeed. */
  private void assertCompletions(int inputBytes) throws IOException {
    WorkCompletions batch = new WorkCompletions(16);
    int needed = 0;
    for (int polled = node.cq.poll(batch); polled > 0; polled = node.cq.poll(batch)) {
      for (int i = 0; i < polled; i++) {
        if (batch.status(i) == WorkCompletionStatus.SUCCESS) {
          needed += FrameHeader.BYTES + (batch.wrId(i) == 1 ? READ_BYTES : LONG_READ_BYTES);
        }
      }
    }
    assertThat(inputBytes).as("bytes for READs that succeeded").isGreaterThanOrEqualTo(needed);
  }

  /**
   * Restores the memory that the queue pair may write to, then asserts that no other has changed.
   */
  private void assertMemoryIsUntouched(Role role) {
    if (role != Role.SERVING) {
      piece(1).asSlice(0, LONG_READ_BYTES).fill(GUARD);
    }
    assertThat(memory.mismatch(expected)).as("first byte that was written").isEqualTo(-1);
  }

  /** Inputs of peers that behave correctly. */
  public static List<byte[]> valid() {
    byte[] payload = new byte[READ_BYTES];
    byte[] half = new byte[LONG_READ_BYTES / 2];
    List<byte[]> inputs = new ArrayList<>();
    inputs.add(new Frames(0).read(64, 0).bytes());
    inputs.add(new Frames(0).read(REGION_BYTES, 0).read(0, 0).read(1, REGION_BYTES - 1).bytes());
    inputs.add(new Frames(1).data(payload).data(half).data(half).bytes());
    inputs.add(new Frames(1).refusal(WorkCompletionStatus.REM_ACCESS_ERR).bytes());
    inputs.add(new Frames(1).data(payload).refusal(WorkCompletionStatus.REM_OP_ERR).bytes());
    inputs.add(new Frames(2).read(64, 0).data(payload).read(8, 16).data(half).data(half).bytes());
    return inputs;
  }

  /** Builds frames with relative addresses and keys, behind the two choosing bytes. */
  private static final class Frames {
    private final ByteBuffer out = ByteBuffer.allocate(4096);

    Frames(int role) {
      out.put((byte) role).put((byte) 0);
    }

    Frames read(int length, long address) {
      FrameHeader.encodeRead(out, length, address, 0);
      return this;
    }

    Frames data(byte[] payload) {
      FrameHeader.encodeData(out, payload.length);
      out.put(payload);
      return this;
    }

    Frames refusal(WorkCompletionStatus status) {
      FrameHeader.encodeNak(out, status.ordinal());
      return this;
    }

    byte[] bytes() {
      byte[] bytes = new byte[out.position()];
      out.get(0, bytes);
      return bytes;
    }
  }
}
