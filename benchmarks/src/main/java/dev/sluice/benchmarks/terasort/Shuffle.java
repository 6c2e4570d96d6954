package dev.sluice.benchmarks.terasort;

import java.util.Locale;

/** Whose shuffle a sort goes through. */
enum Shuffle {
  SLUICE,
  STOCK;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
