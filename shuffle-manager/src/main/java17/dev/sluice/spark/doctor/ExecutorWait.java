// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.SparkConf;

/**
 * Decides when an application's executors are all there. It waits for as many as the configuration
 * asks for. If that does not say, it waits until no more have come for a while. {@link Executors}
 * asks it again and again on the doctor's main thread, and sleeps meanwhile.
 */
final class ExecutorWait {
  /** Executors of one application start within a few seconds of each other. */
  static final Duration QUIET = Duration.ofSeconds(15);

  /** Spark's own default on YARN and Kubernetes. */
  private static final int DEFAULT_INSTANCES = 2;

  private final OptionalInt expected;
  private final long limitNanos;
  private final LongSupplier nanoClock;
  private final long start;
  private int seen;
  private long changed;
  private long nanos;

  /**
   * @param expected number of executors; empty if it is not known
   * @param limit time after which the wait is over in any case
   * @param nanoClock clock such as {@link System#nanoTime}
   */
  ExecutorWait(OptionalInt expected, Duration limit, LongSupplier nanoClock) {
    this.expected = expected;
    this.limitNanos = limit.toNanos();
    this.nanoClock = nanoClock;
    this.start = nanoClock.getAsLong();
    this.changed = start;
    this.nanos = start;
  }

  /**
   * Returns true if the wait is over.
   *
   * @param now number of executors that have registered
   */
  boolean isOver(int now) {
    nanos = nanoClock.getAsLong();
    if (now != seen) {
      seen = now;
      changed = nanos;
    }
    return isComplete() || nanos - start >= limitNanos;
  }

  /** Returns true if all are there, as far as that can be told. Otherwise the time was over. */
  boolean isComplete() {
    return expected.isPresent()
        ? seen >= expected.getAsInt()
        : seen > 0 && nanos - changed >= QUIET.toNanos();
  }

  /** Returns the number of executors, and of expected ones, as a finding. */
  Finding finding(String spread) {
    Finding finding = judged(spread).with("seen", seen);
    return expected.isPresent() ? finding.with("expected", expected.getAsInt()) : finding;
  }

  private Finding judged(String spread) {
    String of = expected.isPresent() ? " of " + expected.getAsInt() : "";
    String within = " registered within " + TimeUnit.NANOSECONDS.toSeconds(limitNanos) + " s";
    if (seen == 0) {
      return Finding.fail(
          Executors.NAME,
          "none" + of + within,
          "check free cores and memory of the cluster, and its manager's log; raise --wait; set"
              + " spark.dynamicAllocation.enabled=false, which starts executors before there are"
              + " tasks");
    }
    if (!isComplete()) {
      return Finding.warn(
          Executors.NAME,
          seen + of + within + ", and only these are checked: " + spread,
          "check free cores and memory of the cluster; raise --wait, or lower --executors");
    }
    String said = seen + of + " are checked";
    return Finding.ok(
        Executors.NAME,
        expected.isPresent()
            ? said + ": " + spread
            : said
                + ", and no more came for "
                + QUIET.toSeconds()
                + " s; the configuration does not set their number (--executors): "
                + spread);
  }

  /** Returns the number of executors that the configuration asks for; empty if that is open. */
  static OptionalInt expected(SparkConf conf) {
    String master = conf.get("spark.master", "");
    if (master.startsWith("local") && !master.startsWith("local-cluster")) {
      return OptionalInt.of(1);
    }
    int instances = conf.getInt("spark.executor.instances", 0);
    if (conf.getBoolean("spark.dynamicAllocation.enabled", false)) {
      int least = conf.getInt("spark.dynamicAllocation.minExecutors", 0);
      int initial = conf.getInt("spark.dynamicAllocation.initialExecutors", 0);
      return positive(Math.max(instances, Math.max(least, initial)));
    }
    if (master.startsWith("yarn") || master.startsWith("k8s")) {
      return OptionalInt.of(instances > 0 ? instances : DEFAULT_INSTANCES);
    }
    // A standalone Master gives an executor all cores of a Worker, unless it is told otherwise.
    int cores = conf.getInt("spark.executor.cores", 0);
    return cores > 0 ? positive(conf.getInt("spark.cores.max", 0) / cores) : OptionalInt.empty();
  }

  private static OptionalInt positive(int count) {
    return count > 0 ? OptionalInt.of(count) : OptionalInt.empty();
  }
}
