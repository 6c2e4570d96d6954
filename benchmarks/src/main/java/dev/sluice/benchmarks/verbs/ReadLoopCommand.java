// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import com.sun.management.ThreadMXBean;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.CpuTime;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.engine.FakeAdapter;
import dev.sluice.testkit.Directories;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench verbs}: measures posting and polling by the binding against the same
 * loop in C. Both use one queue pair of an adapter that completes a READ at posting, in turn and on
 * one thread.
 */
@Command(
    name = "verbs",
    description = {
      "Measure posting and polling READs by the binding, compared with C",
      "Measures the CPU time of READs of 8 B, one at a time and in chains of 32, on a simulated"
          + " adapter that completes them at once. A run is invalid if posting and polling allocate"
          + " memory. Needs gcc and rdma-core's headers, but no RDMA device."
    })
public final class ReadLoopCommand implements Callable<Integer> {
  /** READs of a chain; {@code read_loop.c} has room for 64. */
  private static final List<Integer> CHAINS = List.of(1, 32);

  /** Number of rounds until the JIT compilers are done. */
  private static final int WARM_UP = 5;

  /** Number of READs: about a tenth of a second; a multiple of each chain. */
  private static final int READS = 1 << 21;

  private static final String SOURCE = "read_loop.c";

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 15;

  @Mixin private ComparisonOutput output;

  private final Pairs pairs = new Pairs();
  private final List<String> problems = new ArrayList<>();
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Override
  public Integer call() throws IOException {
    Path directory = Directories.ofRun("verbs");
    try {
      FakeAdapter adapter = FakeAdapter.load(Path.of(System.getenv("SLUICE_HOME")), directory);
      adapter.completeAtOnce();
      NativeFunction inC = compile(directory);
      for (int chain : CHAINS) {
        try (ReadLoop loop = new ReadLoop(adapter.openContext(), chain)) {
          for (int round = -WARM_UP; round < rounds; round++) {
            measure(loop, inC, chain, round);
          }
        }
      }
      return output.write(pairs.comparisons(), problems);
    } catch (ProviderUnavailableException e) {
      System.err.println("skipped: " + e.getMessage());
      return 1;
    } finally {
      Directories.delete(directory);
    }
  }

  private static NativeFunction compile(Path directory) throws IOException {
    Path source = directory.resolve(SOURCE);
    try (InputStream in = ReadLoopCommand.class.getResourceAsStream(SOURCE)) {
      Files.copy(in, source);
    }
    Path library = directory.resolve("read_loop.so");
    FakeAdapter.compile(source, library);
    return NativeFunction.exported(
        new NativeLibrary(library.toString(), "gcc"),
        "int read_loop(ptr qp, ptr cq, ptr mr, int chain, int reads)",
        Failure.ERROR_NUMBER);
  }

  /** Measures each loop once, in alternating order; negative rounds are warm-up. */
  private void measure(ReadLoop loop, NativeFunction inC, int chain, int round) throws IOException {
    String name = "verbs-read-8B-x" + chain;
    boolean javaFirst = round % 2 == 0;
    long ofJava = javaFirst ? ofJava(loop, name, round >= 0) : 0;
    long ofC =
        CpuTime.ofThread(
            () ->
                inC.call(
                    loop.qp().pointer(), loop.cq().pointer(), loop.mr().pointer(), chain, READS));
    ofJava = javaFirst ? ofJava : ofJava(loop, name, round >= 0);
    if (round >= 0) {
      pairs.less(name, "ns/READ", (double) ofJava / READS, "C", (double) ofC / READS);
    }
  }

  private long ofJava(ReadLoop loop, String name, boolean counts) throws IOException {
    long before = threads.getCurrentThreadAllocatedBytes();
    long nanos = CpuTime.ofThread(() -> loop.run(READS));
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    if (counts && allocated >= READS) {
      problems.add("%s: %d bytes were allocated by %d READs".formatted(name, allocated, READS));
    }
    return nanos;
  }
}
