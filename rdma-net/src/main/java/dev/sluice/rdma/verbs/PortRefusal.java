package dev.sluice.rdma.verbs;

/** Why a port cannot be used; caught where the next one is tried. */
final class PortRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * @param reason goes on after the port's name
   */
  PortRefusal(String reason) {
    super(reason);
  }
}
