package dev.sluice.benchmarks.chaos.inject;

import java.util.Map;

/**
 * What is to go wrong in every executor from now on, until the next order.
 *
 * @param sequence larger than that of the order before
 * @param seed of the decisions
 * @param rates probabilities of what is to go wrong
 * @param victim process id for what is about one executor, 0 for none
 */
public record Order(long sequence, long seed, Map<Injection, Double> rates, long victim) {
  public static final Order NONE = new Order(0, 0, Map.of(), 0);

  /** The same once more, to be answered only. */
  public Order again() {
    return new Order(sequence + 1, seed, rates, victim);
  }

  boolean isSameAs(Order other) {
    return equals(new Order(sequence, other.seed, other.rates, other.victim));
  }
}
