// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

/**
 * Reason why a port cannot be used. {@link PortChooser} then tries the next port, {@link
 * CurrentPort} stops connecting, and {@link VerbsSurvey} reports it.
 */
final class PortRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final Refusal.Kind kind;

  /**
   * @param reason continues a sentence that begins with the port's name
   */
  PortRefusal(String reason) {
    this(Refusal.Kind.OTHER, reason);
  }

  /**
   * @param reason continues a sentence that begins with the port's name
   */
  PortRefusal(Refusal.Kind kind, String reason) {
    super(reason);
    this.kind = kind;
  }

  Refusal.Kind kind() {
    return kind;
  }
}
