package dev.sluice.rdma;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A work request for the send queue: {@code struct ibv_send_wr}.
 *
 * @param wrId returned in the work completion, all 64 bits
 * @param opcode what to do
 * @param scatterGather local memory: source of SEND and WRITE, target of READ and atomics
 * @param flags SIGNALED and others
 * @param immediate immediate data for the opcodes that carry it
 * @param remoteAddress remote memory of READ, WRITE and atomics
 * @param rkey remote key of the region that holds it
 * @param compareAdd compare or add operand of an atomic
 * @param swap swap operand of compare-and-swap
 */
public record SendWorkRequest(
    long wrId,
    Opcode opcode,
    List<ScatterGatherEntry> scatterGather,
    Set<SendFlag> flags,
    int immediate,
    long remoteAddress,
    int rkey,
    long compareAdd,
    long swap) {

  public static final Set<SendFlag> UNSIGNALED = EnumSet.noneOf(SendFlag.class);
  public static final Set<SendFlag> SIGNALED = EnumSet.of(SendFlag.SIGNALED);

  /** An RDMA READ of remote memory into local memory. */
  public static SendWorkRequest read(
      long wrId, ScatterGatherEntry local, long remoteAddress, int rkey, boolean signaled) {
    return new SendWorkRequest(
        wrId,
        Opcode.RDMA_READ,
        List.of(local),
        signaled ? SIGNALED : UNSIGNALED,
        0,
        remoteAddress,
        rkey,
        0,
        0);
  }

  /** Bytes of local memory that the request names. */
  public long length() {
    long length = 0;
    // Not by an iterator, which is garbage on the way of each request.
    for (int i = 0; i < scatterGather.size(); i++) {
      length += Integer.toUnsignedLong(scatterGather.get(i).length());
    }
    return length;
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "%s %#x, %d bytes at 0x%x".formatted(opcode, wrId, length(), remoteAddress);
  }
}
