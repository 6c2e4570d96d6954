package dev.sluice.rdma.verbs.ibv;

/**
 * Access to registered memory, and of a peer through a queue pair (ibv_reg_mr(3)). Bits, to be
 * combined by {@code |}.
 */
public final class IbvAccess {
  public static final int LOCAL_WRITE = 1;
  public static final int REMOTE_WRITE = 1 << 1;
  public static final int REMOTE_READ = 1 << 2;
  public static final int REMOTE_ATOMIC = 1 << 3;
  public static final int MW_BIND = 1 << 4;
  public static final int ZERO_BASED = 1 << 5;
  public static final int ON_DEMAND = 1 << 6;
  public static final int HUGETLB = 1 << 7;
  public static final int RELAXED_ORDERING = 1 << 20;

  private IbvAccess() {}
}
