// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

/**
 * Device or port that is not used, and the reason. {@link OpenPorts}, {@link PortReader} and {@link
 * VerbsSurvey} make it; the doctor chooses a remedy by its kind. Immutable.
 *
 * @param name name of the device or port
 * @param reason continues a sentence that begins with the name
 */
public record Refusal(String name, Kind kind, String reason) {
  /** Kinds of reasons, as far as they have different remedies. */
  public enum Kind {
    /** The options leave it out. */
    EXCLUDED,
    /** Its device file is missing, or may not be opened. */
    NOT_OPENED,
    NOT_ACTIVE,
    /** It has no GID, or none that the options allow. */
    NO_GID,
    /** It has a GID, but of another network namespace. */
    FOREIGN_GID,
    OTHER
  }

  /** Returns the sentence. */
  public String words() {
    return name + " " + reason;
  }
}
