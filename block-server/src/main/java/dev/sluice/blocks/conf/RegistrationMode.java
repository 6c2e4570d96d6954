// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.util.Locale;

/**
 * Ways in which the configuration has a process's map outputs registered. {@code RegistrationProbe}
 * tries the form of a mode. The names of the constants are the configured values. A node daemon
 * always has {@link #AUTO}.
 */
public enum RegistrationMode {
  /** Registers files in the local directories where that leaves them clean, and stages others. */
  AUTO,

  /** Registers the files themselves and pins nothing. */
  ODP;

  /** Returns the configured value. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns true if it is an error that its form does not work in a local directory. */
  public boolean isRequired() {
    return this != AUTO;
  }
}
