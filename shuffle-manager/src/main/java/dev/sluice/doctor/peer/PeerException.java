package dev.sluice.doctor.peer;

import java.io.IOException;

/** Why nothing is READ from a peer. */
public final class PeerException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String set;

  /**
   * @param set what to set or to do
   */
  PeerException(String message, String set) {
    super(message);
    this.set = set;
  }

  PeerException(String message, String set, IOException cause) {
    super(message, cause);
    this.set = set;
  }

  /** What to set or to do. */
  public String set() {
    return set;
  }
}
