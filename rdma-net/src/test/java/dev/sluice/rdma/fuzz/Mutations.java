// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.fuzz;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Runs a fuzz target on seeded mutations of valid inputs. The system properties {@code
 * sluice.fuzz.executions} and {@code sluice.fuzz.seed} set their number and seed. {@code
 * sluice.fuzz.first} repeats an input that failed.
 */
public final class Mutations {
  private static final long EXECUTIONS = Long.getLong("sluice.fuzz.executions", 50_000);
  private static final long SEED = Long.getLong("sluice.fuzz.seed", 1);
  private static final long FIRST = Long.getLong("sluice.fuzz.first", 0);

  /** Deadline of all inputs, a hundred times their usual duration. */
  private static final Duration DEADLINE = Duration.ofSeconds(60 + EXECUTIONS / 50);

  private Mutations() {}

  /**
   * Runs the target on the valid inputs, then on mutations of them.
   *
   * @param target throws if an input has a forbidden effect; an input that does not end fails, too
   */
  public static void run(List<byte[]> valid, Consumer<byte[]> target) {
    Mutator mutator = new Mutator(SEED, valid);
    AtomicLong number = new AtomicLong(FIRST);
    assertTimeoutPreemptively(
        DEADLINE,
        () -> {
          valid.forEach(target);
          for (; number.get() < FIRST + EXECUTIONS; number.incrementAndGet()) {
            run(number.get(), mutator.input(number.get()), target);
          }
        },
        () -> "Input %d of seed %d does not end".formatted(number.get(), SEED));
  }

  private static void run(long number, byte[] input, Consumer<byte[]> target) {
    try {
      target.accept(input);
    } catch (RuntimeException | Error e) {
      throw new AssertionError(
          "Input %d of seed %d: %s".formatted(number, SEED, HexFormat.of().formatHex(input)), e);
    }
  }
}
