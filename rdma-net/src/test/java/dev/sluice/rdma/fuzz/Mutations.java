package dev.sluice.rdma.fuzz;

import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;

/**
 * Gives a fuzz target seeded mutations of valid inputs. How many, and of which seed, the system
 * properties {@code sluice.fuzz.executions} and {@code sluice.fuzz.seed} say; {@code
 * sluice.fuzz.first} repeats one that failed.
 */
public final class Mutations {
  private static final long EXECUTIONS = Long.getLong("sluice.fuzz.executions", 50_000);
  private static final long SEED = Long.getLong("sluice.fuzz.seed", 1);
  private static final long FIRST = Long.getLong("sluice.fuzz.first", 0);

  private Mutations() {}

  /**
   * Runs the target on the valid inputs, then on mutations of them.
   *
   * @param target throws where an input does what it must not
   */
  public static void run(List<byte[]> valid, Consumer<byte[]> target) {
    valid.forEach(target);
    Mutator mutator = new Mutator(SEED, valid);
    for (long number = FIRST; number < FIRST + EXECUTIONS; number++) {
      byte[] input = mutator.input(number);
      try {
        target.accept(input);
      } catch (RuntimeException | Error e) {
        throw new AssertionError(
            "Input %d of seed %d: %s".formatted(number, SEED, HexFormat.of().formatHex(input)), e);
      }
    }
  }
}
