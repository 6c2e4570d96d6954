package dev.sluice.blocks;

import java.util.List;
import java.util.Locale;

/**
 * Forms of registration that the configuration allows for a process's map outputs. {@link
 * FormProbe} asks for them. The names of the constants are the configured values: SluiceConf parses
 * them. A node daemon always has {@link #AUTO}.
 */
public enum RegistrationMode {
  /** Pins the files themselves, in the local directories where that leaves them clean. */
  AUTO(RegistrationForm.READ_ONLY_MAPPING),

  /** Pins the files themselves, even if that dirties their pages. */
  FILE(RegistrationForm.READ_ONLY_MAPPING, RegistrationForm.READ_WRITE_MAPPING),

  /** Registers the files themselves and pins nothing. */
  ODP(RegistrationForm.ON_DEMAND_MAPPING);

  private final List<RegistrationForm> forms;

  RegistrationMode(RegistrationForm... forms) {
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
  List<RegistrationForm> forms(boolean sendsFiles) {
    return sendsFiles && this != ODP ? List.of(RegistrationForm.OPEN_FILE) : forms;
  }
}
