package dev.sluice.blocks;

import java.util.List;
import java.util.Locale;

/** Which forms of registration are open to a process's map outputs, as it is configured. */
public enum RegistrationMode {
  /** The files themselves, pinned, in the local directories where that leaves them clean. */
  AUTO(RegistrationForm.READ_ONLY_MAPPING),

  /** The files themselves, pinned, whatever that costs. */
  FILE(RegistrationForm.READ_ONLY_MAPPING, RegistrationForm.READ_WRITE_MAPPING),

  /** The files themselves, of which nothing is pinned. */
  ODP(RegistrationForm.ON_DEMAND_MAPPING);

  private final List<RegistrationForm> forms;

  RegistrationMode(RegistrationForm... forms) {
    this.forms = List.of(forms);
  }

  /** As it is configured. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether map outputs are to be registered in every local directory, or else it is an error. */
  boolean isRequired() {
    return this != AUTO;
  }

  /**
   * The best first.
   *
   * @param sendsFiles whether the device does: then nothing is pinned in any case, nor mapped
   */
  List<RegistrationForm> forms(boolean sendsFiles) {
    return sendsFiles && this != ODP ? List.of(RegistrationForm.OPEN_FILE) : forms;
  }
}
