// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import java.io.IOException;

/** Reason why READs from a peer fail, with a remedy. {@link PeerReader} throws it. */
public final class PeerException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String set;

  /**
   * @param set remedy, such as a setting
   */
  PeerException(String message, String set) {
    super(message);
    this.set = set;
  }

  PeerException(String message, String set, IOException cause) {
    super(message, cause);
    this.set = set;
  }

  /** Returns the remedy, such as a setting. */
  public String set() {
    return set;
  }
}
