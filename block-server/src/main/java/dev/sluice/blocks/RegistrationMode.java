package dev.sluice.blocks;

import java.util.List;
import java.util.Locale;

/** Which forms of registration are open to a process's map outputs, as it is configured. */
public enum RegistrationMode {
  /** The best that works in each local directory. */
  AUTO(
      RegistrationForm.READ_ONLY_MAPPING,
      RegistrationForm.READ_WRITE_MAPPING,
      RegistrationForm.COPY),

  /** The files themselves, pinned. */
  FILE(RegistrationForm.READ_ONLY_MAPPING, RegistrationForm.READ_WRITE_MAPPING),

  /** Their bytes in memory. */
  COPY(RegistrationForm.COPY),

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

  /** The best first. */
  List<RegistrationForm> forms() {
    return forms;
  }
}
