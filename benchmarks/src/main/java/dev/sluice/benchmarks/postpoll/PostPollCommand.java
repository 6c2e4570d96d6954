package dev.sluice.benchmarks.postpoll;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.Installation;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.FakeQueues;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    /** Nanoseconds of {@link #CALLS}. */
    long run() throws VerbsException;
  }

  /** The same loop in C and in Java, with nanoseconds a call of each round. */
  private record Pair(String name, Loop inC, Loop java, double[] cNanos, double[] javaNanos) {
    void measure(int round) throws VerbsException {
      double c = nanos(inC);
      double j = nanos(java);
      if (round >= 0) {
        cNanos[round] = c;
        javaNanos[round] = j;
      }
    }

    private static double nanos(Loop loop) throws VerbsException {
      long nanos = loop.run();
      if (nanos < 0) {
        throw new IllegalStateException("a call failed");
      }
      return (double) nanos / CALLS;
    }

    Comparison row() {
      return new Comparison("post-poll-" + name, "ns", Better.LESS, javaNanos, "C", cNanos, null);
    }
  }

  @Override
  public Integer call() throws Exception {
    Path directory =
        RunDirectory.create(Installation.fromEnvironment().data().resolve("post-poll"));
    try (Arena arena = Arena.ofShared()) {
      List<Pair> pairs = pairs(CLoops.compile(directory), new JavaLoops(arena));
      for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
        for (Pair pair : pairs) {
          pair.measure(round);
        }
      }
      return output.write(pairs.stream().map(Pair::row).toList());
    } catch (ProviderUnavailableException e) {
      System.err.println(e.getMessage());
      return 1;
    } finally {
      Directories.delete(directory);
    }
  }

  private List<Pair> pairs(CLoops c, JavaLoops java) throws VerbsException {
    FakeQueues queues = new FakeQueues(c.get("context"));
    MemorySegment qp = c.get("qp");
    MemorySegment full = c.get("full_cq");
    MemorySegment empty = c.get("empty_cq");
    IbvQp javaQp = queues.qp(c.get("pd"), qp);
    IbvCq javaFull = queues.cq(full);
    IbvCq javaEmpty = queues.cq(empty);
    List<Pair> pairs = new ArrayList<>();
    pairs.add(pair("post", () -> c.post(qp, CALLS), () -> java.post(javaQp, CALLS)));
    pairs.add(
        pair(
            "poll-nothing", () -> c.poll(empty, 16, CALLS), () -> java.poll(javaEmpty, 16, CALLS)));
    pairs.add(pair("poll-1", () -> c.poll(full, 1, CALLS), () -> java.poll(javaFull, 1, CALLS)));
    pairs.add(pair("poll-16", () -> c.poll(full, 16, CALLS), () -> java.poll(javaFull, 16, CALLS)));
    return pairs;
  }

  private Pair pair(String name, Loop inC, Loop java) {
    return new Pair(name, inC, java, new double[rounds], new double[rounds]);
  }
}
