// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import java.util.Locale;

/**
 * Ways in which the configuration has a process's map outputs registered. {@link RegistrationProbe}
 * asks for the form. The names of the constants are the configured values. A node daemon always has
 * {@link #AUTO}.
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
  boolean isRequired() {
    return this != AUTO;
  }

  /**
   * Returns the form in which files are registered.
   *
   * @param sendsFiles true if the device sends open files, which then need not be mapped
   */
  RegistrationMethod form(boolean sendsFiles) {
    return switch (this) {
      case AUTO -> sendsFiles ? RegistrationMethod.OPEN_FILE : RegistrationMethod.READ_ONLY_MAPPING;
      case ODP -> RegistrationMethod.ON_DEMAND_MAPPING;
    };
  }
}
