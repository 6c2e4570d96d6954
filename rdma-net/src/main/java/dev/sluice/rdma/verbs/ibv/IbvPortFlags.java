package dev.sluice.rdma.verbs.ibv;

/** What is special about a port (ibv_query_port(3)). Bits, to be combined by {@code |}. */
public final class IbvPortFlags {
  /**
   * It shares its LID with others, as virtual functions do: packets from and to it need a GRH, or
   * go to one of the others.
   */
  public static final int GRH_REQUIRED = 1;

  private IbvPortFlags() {}
}
