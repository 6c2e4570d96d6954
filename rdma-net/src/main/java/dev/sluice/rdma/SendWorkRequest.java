package dev.sluice.rdma;

import java.util.List;

/**
 * A work request for the send queue ({@code struct ibv_send_wr}): an RDMA READ.
 *
 * @param wrId returned in the work completion, all 64 bits
 * @param scatterGather local memory that the bytes go to
 * @param remoteAddress where they are at the peer
 * @param rkey remote key of the region that holds them
 * @param signaled generates a work completion also on success; a failed one always generates one
 */
public record SendWorkRequest(
    long wrId,
    List<ScatterGatherEntry> scatterGather,
    long remoteAddress,
    int rkey,
    boolean signaled) {

  /** A READ into one piece of memory. */
  public static SendWorkRequest read(
      long wrId, ScatterGatherEntry local, long remoteAddress, int rkey, boolean signaled) {
    return new SendWorkRequest(wrId, List.of(local), remoteAddress, rkey, signaled);
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
    return "READ %#x, %d bytes at 0x%x".formatted(wrId, length(), remoteAddress);
  }
}
