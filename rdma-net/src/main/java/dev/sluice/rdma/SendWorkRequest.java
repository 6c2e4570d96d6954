// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * A work request for the send queue ({@code struct ibv_send_wr}): an RDMA READ. As in C, the caller
 * may fill it again after posting, so that posting makes no garbage. A receiver that needs the
 * values for longer copies them. One thread at a time.
 */
public final class SendWorkRequest {
  private long wrId;
  private long localAddress;
  private int length;
  private int lkey;
  private long remoteAddress;
  private int rkey;
  private boolean signaled;

  /** Creates an empty work request, to be filled by {@link #set}. */
  public SendWorkRequest() {}

  /** Creates a work request with the values of {@link #set}. */
  public SendWorkRequest(
      long wrId, ScatterGatherEntry local, long remoteAddress, int rkey, boolean signaled) {
    set(wrId, local.address(), local.length(), local.lkey(), remoteAddress, rkey, signaled);
  }

  /**
   * @param wrId returned in the work completion, all 64 bits
   * @param localAddress address that the bytes are written to
   * @param length bytes
   * @param lkey local key of the region at {@code localAddress}
   * @param remoteAddress address of the bytes at the peer
   * @param rkey remote key of the region that holds them
   * @param signaled true to generate a work completion also on success; a failure always generates
   *     one
   */
  public void set(
      long wrId,
      long localAddress,
      int length,
      int lkey,
      long remoteAddress,
      int rkey,
      boolean signaled) {
    this.wrId = wrId;
    this.localAddress = localAddress;
    this.length = length;
    this.lkey = lkey;
    this.remoteAddress = remoteAddress;
    this.rkey = rkey;
    this.signaled = signaled;
  }

  public SendWorkRequest copy() {
    return new SendWorkRequest(wrId, local(), remoteAddress, rkey, signaled);
  }

  public long wrId() {
    return wrId;
  }

  public ScatterGatherEntry local() {
    return new ScatterGatherEntry(localAddress, length, lkey);
  }

  public long localAddress() {
    return localAddress;
  }

  public int length() {
    return length;
  }

  public int lkey() {
    return lkey;
  }

  public long remoteAddress() {
    return remoteAddress;
  }

  public int rkey() {
    return rkey;
  }

  public boolean signaled() {
    return signaled;
  }

  /** Leaves the keys out. */
  @Override
  public String toString() {
    return "READ %#x, %d bytes at 0x%x".formatted(wrId, length, remoteAddress);
  }
}
