package dev.sluice.benchmarks;

import java.util.Locale;

/** Whose shuffle a job goes through. */
public enum Shuffle {
  SLUICE,
  STOCK;

  /** As in tables. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
