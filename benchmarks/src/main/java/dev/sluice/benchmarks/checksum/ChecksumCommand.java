package dev.sluice.benchmarks.checksum;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Turns;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.zip.Checksum;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What verifying a block after its READ costs: each of Spark's checksum algorithms over 1 MiB of
 * native memory, beside copying it once, in turn.
 */
@Command(name = "checksum", description = "Spark's checksums of 1 MiB, beside a copy of it")
public final class ChecksumCommand implements Callable<Integer> {
  private static final int BYTES = 1 << 20;

  /** Of one measurement, so that the clock's own cost does not count. */
  private static final int REPETITIONS = 100;

  private static final int WARM_UP_ROUNDS = 20;

  @Option(
      names = "--rounds",
      defaultValue = "25",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private ComparisonOutput output;

  /** One thing to do with the block. */
  private record Contender(String name, Runnable work) {
    private double micros() {
      long started = System.nanoTime();
      for (int i = 0; i < REPETITIONS; i++) {
        work.run();
      }
      return (System.nanoTime() - started) / 1e3 / REPETITIONS;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(BYTES);
      block.copyFrom(MemorySegment.ofArray(new Random(1).ints(BYTES / 4).toArray()));
      MemorySegment copy = arena.allocate(BYTES);
      List<Contender> contenders = new ArrayList<>();
      contenders.add(new Contender("copy", () -> copy.copyFrom(block)));
      for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
        if (algorithm != ChecksumAlgorithm.NONE) {
          Checksum checksum = algorithm.newChecksum();
          contenders.add(
              new Contender(algorithm.name(), () -> checksum.update(block.asByteBuffer())));
        }
      }
      return output.write(rows(contenders));
    }
  }

  /** Each but the first beside the first. */
  private List<Comparison> rows(List<Contender> contenders)
      throws IOException, InterruptedException {
    double[][] micros =
        Turns.measure(contenders, WARM_UP_ROUNDS, rounds, (contender, _) -> contender.micros());
    List<Comparison> rows = new ArrayList<>();
    for (int i = 1; i < micros.length; i++) {
      String name = "checksum-" + contenders.get(i).name().toLowerCase(Locale.ROOT) + "-1MiB";
      rows.add(Comparison.less(name, "us", micros[i], contenders.getFirst().name(), micros[0]));
    }
    return rows;
  }
}
