package dev.sluice.benchmarks.checksum;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.ComparisonOutput;
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
  private record Contender(String name, Runnable work, double[] micros) {}

  @Override
  public Integer call() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(BYTES);
      block.copyFrom(MemorySegment.ofArray(new Random(1).ints(BYTES / 4).toArray()));
      MemorySegment copy = arena.allocate(BYTES);
      List<Contender> contenders = new ArrayList<>();
      contenders.add(new Contender("copy", () -> copy.copyFrom(block), new double[rounds]));
      for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
        if (algorithm != ChecksumAlgorithm.NONE) {
          Checksum checksum = algorithm.newChecksum();
          contenders.add(
              new Contender(
                  algorithm.name(),
                  () -> checksum.update(block.asByteBuffer()),
                  new double[rounds]));
        }
      }
      measure(contenders);
      return output.write(rows(contenders));
    }
  }

  private void measure(List<Contender> contenders) {
    for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (Contender contender : contenders) {
        long started = System.nanoTime();
        for (int i = 0; i < REPETITIONS; i++) {
          contender.work().run();
        }
        if (round >= 0) {
          contender.micros()[round] = (System.nanoTime() - started) / 1e3 / REPETITIONS;
        }
      }
    }
  }

  /** Each but the first beside the first. */
  private static List<Comparison> rows(List<Contender> contenders) {
    Contender copy = contenders.getFirst();
    List<Comparison> rows = new ArrayList<>();
    for (Contender contender : contenders.subList(1, contenders.size())) {
      String name = "checksum-" + contender.name().toLowerCase(Locale.ROOT) + "-1MiB";
      rows.add(
          new Comparison(
              name, "us", Better.LESS, contender.micros(), copy.name(), copy.micros(), null));
    }
    return rows;
  }
}
