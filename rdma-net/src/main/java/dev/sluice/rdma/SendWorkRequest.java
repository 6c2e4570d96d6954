package dev.sluice.rdma;

/**
 * A work request for the send queue ({@code struct ibv_send_wr}): an RDMA READ.
 *
 * @param wrId returned in the work completion, all 64 bits
 * @param local memory that the bytes go to, as many as it has
 * @param remoteAddress where they are at the peer
 * @param rkey remote key of the region that holds them
 * @param signaled generates a work completion also on success; a failed one always generates one
 */
public record SendWorkRequest(
    long wrId, ScatterGatherEntry local, long remoteAddress, int rkey, boolean signaled) {

  /** Without the keys. */
  @Override
  public String toString() {
    return "READ %#x, %d bytes at 0x%x".formatted(wrId, local.length(), remoteAddress);
  }
}
