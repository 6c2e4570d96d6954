package dev.sluice.benchmarks;

import java.util.List;
import java.util.Locale;

/** Whose shuffle a job goes through. */
public enum Shuffle {
  SLUICE,
  STOCK,
  /**
   * {@link dev.sluice.benchmarks.oracle.OracleShuffleManager}: no shuffle to use, but the limit of
   * those that fetch block by block.
   */
  ORACLE,
  /** Stock once more: how far it is from stock is noise. */
  CONTROL;

  /** What is compared. */
  public static final List<Shuffle> PAIR = List.of(SLUICE, STOCK);

  /** The same, and the limit. */
  public static final List<Shuffle> PAIR_AND_ORACLE = List.of(SLUICE, STOCK, ORACLE);

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

  /** Whether it takes classes of Sluice's jar. */
  boolean isOurs() {
    return this == SLUICE || this == ORACLE;
  }

  /** As in tables. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
