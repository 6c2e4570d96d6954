// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

/**
 * Unit and meaning of a counter. docs/metrics.md is generated from it.
 *
 * @param isLevel true for a current state, which ends with its process; false for a growing total
 * @param unit a noun in plural, such as {@code bytes}
 * @param meaning one sentence
 */
public record CounterDescription(boolean isLevel, String unit, String meaning) {
  /** Describes a counter that starts at 0 and only grows. */
  public static CounterDescription total(String unit, String meaning) {
    return new CounterDescription(false, unit, meaning);
  }

  /** Describes a value that rises and falls. */
  public static CounterDescription level(String unit, String meaning) {
    return new CounterDescription(true, unit, meaning);
  }
}
