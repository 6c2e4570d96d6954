package dev.sluice.benchmarks.postpoll;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.benchmarks.Turns;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What posting and polling cost by the binding beside C's inline functions, on a device whose
 * operations do next to nothing: the price of calling from Java, which no network hides.
 */
@Command(
    name = "post-poll",
    description = "Posts and polls by the binding, beside C's inline functions; needs gcc")
public final class PostPollCommand implements Callable<Integer> {
  /**
   * Calls of one measurement: enough for the clock's own cost not to count, and over in less than a
   * time slice, so that on a busy machine most measurements are not interrupted.
   */
  private static final int CALLS = 20_000;

  private static final int WARM_UP_ROUNDS = 300;

  @Option(
      names = "--rounds",
      defaultValue = "151",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private ComparisonOutput output;

  private interface Loop {
    /** Nanoseconds of {@link #CALLS}, below 0 where one failed. */
    long run() throws VerbsException;

    /** Of a call. */
    default double nanos() throws VerbsException {
      long nanos = run();
      if (nanos < 0) {
        throw new IllegalStateException("a call failed");
      }
      return (double) nanos / CALLS;
    }
  }

  @Override
  public Integer call() throws Exception {
    Path directory = RunDirectory.of("post-poll");
    try (Arena arena = Arena.ofShared()) {
      return output.write(rows(loops(CLoops.compile(directory), new JavaLoops(arena))));
    } catch (ProviderUnavailableException e) {
      System.err.println(e.getMessage());
      return 1;
    } finally {
      Directories.delete(directory);
    }
  }

  /**
   * @param loops each in Java and then the same in C
   */
  private List<Comparison> rows(SequencedMap<String, List<Loop>> loops)
      throws IOException, InterruptedException {
    List<Loop> all = loops.values().stream().flatMap(List::stream).toList();
    double[][] nanos = Turns.measure(all, WARM_UP_ROUNDS, rounds, (loop, _) -> loop.nanos());
    List<Comparison> rows = new ArrayList<>();
    for (String name : loops.keySet()) {
      int java = 2 * rows.size();
      rows.add(Comparison.less("post-poll-" + name, "ns", nanos[java], "C", nanos[java + 1]));
    }
    return rows;
  }

  private static SequencedMap<String, List<Loop>> loops(CLoops c, JavaLoops java)
      throws VerbsException {
    IbvContext context = IbvContext.borrowed(c.get("context"));
    MemorySegment qp = c.get("qp");
    MemorySegment full = c.get("full_cq");
    MemorySegment empty = c.get("empty_cq");
    // Never closed: nothing of it is libibverbs' to destroy.
    IbvQp javaQp = context.borrowedPd(c.get("pd")).adoptQp(qp, null, _ -> {});
    IbvCq javaFull = new IbvCq(context, full, null);
    IbvCq javaEmpty = new IbvCq(context, empty, null);
    SequencedMap<String, List<Loop>> loops = new LinkedHashMap<>();
    loops.put("post", List.of(() -> java.post(javaQp, CALLS), () -> c.post(qp, CALLS)));
    loops.put(
        "poll-nothing",
        List.of(() -> java.poll(javaEmpty, 16, CALLS), () -> c.poll(empty, 16, CALLS)));
    loops.put("poll-1", List.of(() -> java.poll(javaFull, 1, CALLS), () -> c.poll(full, 1, CALLS)));
    loops.put(
        "poll-16", List.of(() -> java.poll(javaFull, 16, CALLS), () -> c.poll(full, 16, CALLS)));
    return loops;
  }
}
