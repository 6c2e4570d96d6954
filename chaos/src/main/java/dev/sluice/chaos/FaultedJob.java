// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import dev.sluice.chaos.ChaosDriver.ChaosJob;
import dev.sluice.chaos.ChaosRun.RunResult;
import dev.sluice.chaos.ChaosRun.RunResult.Outcome;
import dev.sluice.chaos.ChaosRun.RunResult.Run;
import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.cluster.LeakCheck;
import dev.sluice.chaos.fault.Fault;
import dev.sluice.chaos.fault.Fault.Moment;
import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.fault.Faults;
import dev.sluice.chaos.workload.Workload;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Sums;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs one job and lets its fault strike. {@link ChaosJob} creates one for each run and calls it on
 * the driver's main thread, which also strikes and heals; the job runs on a thread of its own. The
 * same seed and workload give the same random numbers for fault, delay and victim.
 */
final class FaultedJob {
  /** Time for the fault's stage to begin, and for the executors to settle after the job. */
  private static final long STAGE_MS = 60_000;

  private final Run run;
  private final Cluster cluster;
  private final Workload workload;
  private final long limitMs;
  private final Random random;
  private final Fault fault;

  /** Values, before the strike, of the numbers that grow when the fault strikes. */
  private final Map<Evidence, Long> evidence = new HashMap<>();

  private long startNanos;
  private long strikeNanos;
  private Map<ExecutorProcess, Long> readBefore = Map.of();
  private long readBlocks;
  private boolean inTime = true;
  private boolean struck;
  private @Nullable Sums answer;
  private @Nullable String problem;

  /**
   * @param limitMs time after which the job counts as hanging
   */
  FaultedJob(Run run, Cluster cluster, long limitMs) {
    this.run = run;
    this.cluster = cluster;
    workload = Workload.named(run.workload());
    this.limitMs = limitMs;
    // Neighbouring seeds of a Random give similar first numbers.
    long mixed = new SplittableRandom(run.seed() + run.workload().hashCode()).nextLong();
    random = new Random(mixed);
    fault = Faults.named(run.fault()).chosen(workload, random);
  }

  RunResult run(LeakCheck leakCheck) throws InterruptedException {
    Outcome outcome = Outcome.HARNESS;
    List<String> leaks = List.of();
    Map<String, Long> held = Map.of();
    long endNanos = 0;
    try {
      outcome = strike();
      endNanos = System.nanoTime();
      struck = hasStruck();
      readBlocks = readSince(readBefore);
      heal();
      if (outcome != Outcome.HANG) {
        leaks = leaks(leakCheck);
        held = leakCheck.held();
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      outcome = Outcome.HARNESS;
      problem = e.toString();
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

  private boolean hasStruck() throws Exception {
    for (Map.Entry<Evidence, Long> before : evidence.entrySet()) {
      if (before.getKey().in(cluster) <= before.getValue()) {
        return false;
      }
    }
    return fault.action().hasStruck(cluster, inTime);
  }

  /** Ends what the fault's action does, and the injections that it has ordered. */
  private void heal() throws Exception {
    fault.action().heal(cluster);
    cluster.orderNothing();
  }

  /** Heals after any failure; if that fails too, the driver's end does it. */
  private void healAnyway() {
    try {
      heal();
    } catch (Exception e) {
      problem = "%s; healing the fault failed, too: %s".formatted(problem, e);
    }
  }

  /** Returns the blocks READ since then. An executor that is new counts with all its READs. */
  private long readSince(Map<ExecutorProcess, Long> before) throws Exception {
    return cluster.readBlocks().entrySet().stream()
        .mapToLong(now -> now.getValue() - before.getOrDefault(now.getKey(), 0L))
        .sum();
  }

  private Outcome strike() throws Exception {
    readBefore = cluster.readBlocks();
    fault.action().prepare(cluster, random);
    for (Evidence what : fault.evidence()) {
      evidence.put(what, what.in(cluster));
    }
    if (fault.moment() == Moment.BEFORE) {
      fault.action().strike(cluster, random);
    }
    startNanos = System.nanoTime();
    strikeNanos = startNanos;
    FutureTask<Sums> job =
        new FutureTask<>(() -> workload.job().run(cluster.session(), run.seed()));
    Thread.ofPlatform().daemon().start(job);
    if (fault.moment() != Moment.BEFORE) {
      awaitStage(job);
      Thread.sleep(fault.delayMs(random));
      strikeNanos = System.nanoTime();
      inTime = !job.isDone();
      fault.action().strike(cluster, random);
    }
    return await(job);
  }

  /** Waits until the fault's stage begins or the job ends without it. */
  private void awaitStage(Future<Sums> job) throws InterruptedException {
    boolean reduce = fault.moment() == Moment.REDUCE;
    Poll.until(STAGE_MS, () -> job.isDone() || cluster.stages().hasBegun(reduce));
  }

  private Outcome await(Future<Sums> job) throws Exception {
    long lastsMs = Math.min(fault.lastsMs(), limitMs);
    try {
      if (!Poll.until(lastsMs, job::isDone) && lastsMs < limitMs) {
        heal();
      }
      answer = job.get(limitMs - lastsMs, TimeUnit.MILLISECONDS);
      return Outcome.ANSWERED;
    } catch (ExecutionException e) {
      problem = String.valueOf(e.getCause());
      return Outcome.FAILED;
    } catch (TimeoutException e) {
      problem = "did not end within " + limitMs / 1_000 + " s";
      cluster.dumpThreads();
      return Outcome.HANG;
    }
  }

  private List<String> leaks(LeakCheck leakCheck) throws Exception {
    // A map output that is committed after its shuffle was removed stays, also with stock.
    cluster.settle(STAGE_MS);
    fault.action().settled(cluster);
    cluster.forget(cluster.stages().shuffles());
    return leakCheck.await();
  }
}
