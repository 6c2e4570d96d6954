package dev.sluice.rdma.verbs.cm;

/** Levels and names of options (rdma_set_option(3)). */
public final class RdmaOption {
  /** The level of all of the following. */
  public static final int ID = 0;

  public static final int ID_TOS = 0;
  public static final int ID_REUSEADDR = 1;

  private RdmaOption() {}
}
