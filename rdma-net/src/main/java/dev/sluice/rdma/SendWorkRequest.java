package dev.sluice.rdma;

/**
 * A work request for the send queue ({@code struct ibv_send_wr}): an RDMA READ. Who posts may fill
 * it again afterwards, as in C, so that posting makes no garbage; who takes it copies what it needs
 * for longer.
 */
public final class SendWorkRequest {
  private long wrId;
  private long localAddress;
  private int length;
  private int lkey;
  private long remoteAddress;
  private int rkey;
  private boolean signaled;

  /** One to be {@link #set}. */
  public SendWorkRequest() {}

  /** As {@link #set} has it. */
  public SendWorkRequest(
      long wrId, ScatterGatherEntry local, long remoteAddress, int rkey, boolean signaled) {
    set(wrId, local.address(), local.length(), local.lkey(), remoteAddress, rkey, signaled);
  }

  /**
   * @param wrId returned in the work completion, all 64 bits
   * @param localAddress of the memory that the bytes go to
   * @param length bytes
   * @param lkey local key of the region that they go to
   * @param remoteAddress where they are at the peer
   * @param rkey remote key of the region that holds them
   * @param signaled generates a work completion also on success; a failed one always generates one
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

  /** Without the keys. */
  @Override
  public String toString() {
    return "READ %#x, %d bytes at 0x%x".formatted(wrId, length, remoteAddress);
  }
}
