// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import java.util.List;
import java.util.Locale;

/**
 * Forms of registration that the configuration allows for a process's map outputs. {@link
 * RegistrationProbe} asks for them. The names of the constants are the configured values:
 * SluiceConf parses them. A node daemon always has {@link #AUTO}.
 */
public enum RegistrationMode {
  /** Pins the files themselves, in the local directories where that leaves them clean. */
  AUTO(RegistrationMethod.READ_ONLY_MAPPING),

  /** Pins the files themselves, even if that dirties their pages. */
  FILE(RegistrationMethod.READ_ONLY_MAPPING, RegistrationMethod.READ_WRITE_MAPPING),

  /** Registers the files themselves and pins nothing. */
  ODP(RegistrationMethod.ON_DEMAND_MAPPING);

  private final List<RegistrationMethod> forms;

  RegistrationMode(RegistrationMethod... forms) {
    this.forms = List.of(forms);
  }

  /** Returns the configured value. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns true if it is an error that no form works in a local directory. */
  boolean isRequired() {
    return this != AUTO;
  }

  /**
   * Returns the allowed forms, the best one first.
   *
   * @param sendsFiles true if the device sends open files: these then replace the pinned forms
   */
  List<RegistrationMethod> forms(boolean sendsFiles) {
    return sendsFiles && this != ODP ? List.of(RegistrationMethod.OPEN_FILE) : forms;
  }
}
