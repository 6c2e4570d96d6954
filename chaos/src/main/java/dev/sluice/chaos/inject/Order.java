// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import java.util.Map;

/**
 * Faults that every executor injects until the next order. {@code Cluster} writes it in the driver;
 * {@link ChaosAgent} reads it.
 *
 * @param sequence a larger number than that of the order before
 * @param seed seed of the decisions
 * @param rates probabilities of the injections
 * @param victim process id, for injections into one executor; 0 for none
 */
public record Order(long sequence, long seed, Map<Injection, Double> rates, long victim) {
  public static final Order NONE = new Order(0, 0, Map.of(), 0);

  /** Returns the same order with the next sequence, to get new answers only. */
  public Order again() {
    return new Order(sequence + 1, seed, rates, victim);
  }

  boolean isSameAs(Order other) {
    return equals(new Order(sequence, other.seed, other.rates, other.victim));
  }
}
