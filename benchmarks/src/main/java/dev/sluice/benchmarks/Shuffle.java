package dev.sluice.benchmarks;

import java.util.List;
import java.util.Locale;

/** Whose shuffle a job goes through. */
public enum Shuffle {
  SLUICE,
  STOCK;

  /** What is compared. */
  public static final List<Shuffle> PAIR = List.of(SLUICE, STOCK);

  /**
   * Sluice and stock, in an order that alternates, so that neither always comes after the other.
   */
  public static List<Shuffle> inTurn(int round) {
    return inTurn(round, PAIR);
  }

  /** Those, forwards and backwards in turn. */
  public static List<Shuffle> inTurn(int round, List<Shuffle> shuffles) {
    return round % 2 == 0 ? shuffles : shuffles.reversed();
  }

  /** As in tables. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
