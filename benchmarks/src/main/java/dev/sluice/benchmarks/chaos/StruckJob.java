package dev.sluice.benchmarks.chaos;

import dev.sluice.benchmarks.chaos.RunResult.Outcome;
import dev.sluice.benchmarks.chaos.RunResult.Run;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import dev.sluice.benchmarks.chaos.cluster.Remains;
import dev.sluice.benchmarks.chaos.cluster.ThreadDumps;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.fault.Fault.Moment;
import dev.sluice.benchmarks.chaos.workload.Workload;
import dev.sluice.benchmarks.storm.Sums;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One job and the fault that strikes it. Used by one thread; the job has another. */
final class StruckJob {
  private static final long STAGE_MS = 60_000;
  private static final long POLL_MS = 10;

  private final Run run;
  private final Cluster cluster;
  private final Fault fault;
  private final Workload workload;
  private final Random random;
  private final long limitMs;
  private final Path dumps;
  private long startNanos;
  private long strikeNanos;
  private Map<ExecutorProcess, Long> readBefore;
  private long readBlocks;
  private boolean healed;
  private boolean inTime = true;
  private boolean struck;
  private Sums answer;
  private String problem;

  /**
   * @param random of the fault's decisions
   * @param limitMs after which the job hangs
   * @param dumps directory for thread dumps of what hangs
   */
  StruckJob(
      Run run,
      Cluster cluster,
      Fault fault,
      Workload workload,
      Random random,
      long limitMs,
      Path dumps) {
    this.run = run;
    this.cluster = cluster;
    this.fault = fault;
    this.workload = workload;
    this.random = random;
    this.limitMs = limitMs;
    this.dumps = dumps;
  }

  RunResult run(ExecutorService jobs, Remains remains) throws InterruptedException {
    Outcome outcome = Outcome.HARNESS;
    List<String> leaks = List.of();
    Map<String, Long> held = Map.of();
    long endNanos = 0;
    try {
      outcome = strike(jobs);
      endNanos = System.nanoTime();
      struck = fault.blow().hasStruck(cluster, inTime);
      readBlocks = readSince(readBefore);
      heal();
      if (outcome != Outcome.HANG) {
        leaks = leaks(remains);
        held = remains.held();
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      outcome = Outcome.HARNESS;
      problem = e.toString();
    } finally {
      healAnyway();
    }
    endNanos = endNanos == 0 ? System.nanoTime() : endNanos;
    return new RunResult(
        run,
        fault.name(),
        outcome,
        answer,
        problem,
        cluster.stages().losses(),
        struck,
        readBlocks,
        (endNanos - startNanos) / 1e9,
        (endNanos - strikeNanos) / 1e9,
        leaks,
        held,
        System.currentTimeMillis());
  }

  private void heal() throws Exception {
    fault.blow().heal(cluster);
    healed = true;
  }

  /** Whatever has gone wrong; the driver's end does the rest. */
  private void healAnyway() {
    try {
      if (!healed) {
        heal();
      }
    } catch (Exception e) {
      problem = "%s; not taken back: %s".formatted(problem, e);
    }
  }

  /** An executor that came meanwhile has READ all that it has READ. */
  private long readSince(Map<ExecutorProcess, Long> before) throws Exception {
    return cluster.readBlocks().entrySet().stream()
        .mapToLong(now -> now.getValue() - before.getOrDefault(now.getKey(), 0L))
        .sum();
  }

  private Outcome strike(ExecutorService jobs) throws Exception {
    readBefore = cluster.readBlocks();
    fault.blow().prepare(cluster, random);
    if (fault.moment() == Moment.BEFORE) {
      fault.blow().strike(cluster, random);
    }
    startNanos = System.nanoTime();
    strikeNanos = startNanos;
    CompletableFuture<Sums> job = submit(jobs);
    if (fault.moment() != Moment.BEFORE) {
      awaitStage(job);
      Thread.sleep(fault.delayMs(random));
      strikeNanos = System.nanoTime();
      inTime = !job.isDone();
      fault.blow().strike(cluster, random);
    }
    return await(job);
  }

  private CompletableFuture<Sums> submit(ExecutorService jobs) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return workload.job().run(cluster.session(), run.seed());
          } catch (RuntimeException e) {
            throw e;
          } catch (Exception e) { // Scala throws checked ones that it does not declare.
            throw new IllegalStateException(e);
          }
        },
        jobs);
  }

  /** Until the fault's stage begins, or the job is over without. */
  private void awaitStage(CompletableFuture<Sums> job) throws InterruptedException {
    boolean begun = false;
    for (long waited = 0; !begun && !job.isDone() && waited < STAGE_MS; waited += POLL_MS) {
      begun = cluster.stages().await(fault.moment() == Moment.REDUCE, POLL_MS);
    }
  }

  private Outcome await(CompletableFuture<Sums> job) throws Exception {
    long lastsMs = Math.min(fault.lastsMs(), limitMs);
    try {
      if (!ends(job, lastsMs) && lastsMs < limitMs) {
        fault.blow().heal(cluster);
      }
      answer = job.get(limitMs - lastsMs, TimeUnit.MILLISECONDS);
      return Outcome.ANSWERED;
    } catch (ExecutionException e) {
      problem = e.getCause().toString();
      return Outcome.FAILED;
    } catch (TimeoutException e) {
      problem = "did not end in " + limitMs / 1_000 + " s";
      new ThreadDumps(dumps).take(cluster.executors());
      return Outcome.HANG;
    }
  }

  private static boolean ends(CompletableFuture<Sums> job, long withinMs)
      throws InterruptedException {
    try {
      job.get(withinMs, TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException e) {
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }

  private List<String> leaks(Remains remains) throws Exception {
    // What commits after its shuffle was removed stays, with the stock shuffle as well.
    cluster.settle(STAGE_MS);
    fault.blow().settled(cluster);
    cluster.forget(cluster.stages().shuffles());
    return remains.await();
  }
}
