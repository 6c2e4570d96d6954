package dev.sluice.rdma.verbs;

/** How queue pairs of verbs devices are connected. */
public enum ConnectMode {
  /** By the parameters that peers exchange over their control channel. */
  CONTROL,
  /** By rdma_cm, which is told over the control channel where to connect to. */
  CM
}
