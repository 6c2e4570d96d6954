package dev.sluice.benchmarks;

import java.util.List;
import java.util.Locale;

/** Whose shuffle a job goes through. */
public enum Shuffle {
  SLUICE,
  STOCK;

  /** Both, in an order that alternates, so that neither always comes right after the other. */
  public static List<Shuffle> inTurn(int round) {
    return round % 2 == 0 ? List.of(SLUICE, STOCK) : List.of(STOCK, SLUICE);
  }

  /** As in tables. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
