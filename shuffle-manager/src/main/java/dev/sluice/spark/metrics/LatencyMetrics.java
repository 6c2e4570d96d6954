// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import com.codahale.metrics.Histogram;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Reservoir;
import com.codahale.metrics.Snapshot;
import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.LatencySnapshot;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * READ latencies as histograms of a metric registry: one of all READs, and one of each of up to
 * {@value #MAX_PEERS} peers. Each executor shows its peers, so a sink would otherwise get a million
 * of them from 1,000 executors. A peer that is forgotten makes room for another.
 *
 * <p>{@link MetricsSource} makes it. A thread of the executor's runtime calls {@link #refresh}, and
 * threads of metrics sinks read the histograms. Nothing to close.
 */
final class LatencyMetrics {
  static final int MAX_PEERS = 64;

  /** Name of the histogram of all READs, and prefix of the peers'. */
  static final String NAME = "read-latency-micros";

  private final MetricRegistry registry;
  private final Map<PeerAddress, LatencyHistogram> byPeer;

  /** Durations of a peer that was forgotten since the last refresh. */
  private final LatencyHistogram none = new LatencyHistogram();

  /** Names of the peers' histograms. Guarded by this. */
  private final Map<PeerAddress, String> shown = new HashMap<>();

  /**
   * @param byPeer a view of the peers, which other threads change
   */
  LatencyMetrics(
      MetricRegistry registry, LatencyHistogram all, Map<PeerAddress, LatencyHistogram> byPeer) {
    this.registry = registry;
    this.byPeer = byPeer;
    registry.register(NAME, new Latency(all::snapshot));
    refresh();
  }

  /** Adds peers that are new, and removes those that are forgotten. */
  synchronized void refresh() {
    shown
        .entrySet()
        .removeIf(peer -> !byPeer.containsKey(peer.getKey()) && registry.remove(peer.getValue()));
    for (PeerAddress peer : byPeer.keySet()) {
      String name = name(peer);
      if (shown.size() < MAX_PEERS && !shown.containsValue(name)) {
        registry.register(name, new Latency(() -> byPeer.getOrDefault(peer, none).snapshot()));
        shown.put(peer, name);
      }
    }
  }

  /** Returns a name without dots, which sinks take for levels of a tree. */
  private static String name(PeerAddress peer) {
    return NAME + "." + (peer.id() + "-" + peer.host()).replaceAll("[^a-zA-Z0-9_-]", "_");
  }

  /** A histogram of durations that are recorded elsewhere. It costs nothing until it is read. */
  static final class Latency extends Histogram {
    private final Supplier<LatencySnapshot> recorded;

    Latency(Supplier<LatencySnapshot> recorded) {
      super(new Recorded(recorded));
      this.recorded = recorded;
    }

    @Override
    public long getCount() {
      return recorded.get().count();
    }
  }

  private record Recorded(Supplier<LatencySnapshot> recorded) implements Reservoir {
    @Override
    public int size() {
      return getSnapshot().size();
    }

    @Override
    public void update(long value) {
      throw new UnsupportedOperationException("the transfer engine records the durations");
    }

    @Override
    public Snapshot getSnapshot() {
      return new Durations(recorded.get());
    }
  }

  /** Durations in microseconds, each as the middle of its bucket. */
  private static final class Durations extends Snapshot {
    private final LatencySnapshot recorded;

    Durations(LatencySnapshot recorded) {
      this.recorded = recorded;
    }

    @Override
    public double getValue(double quantile) {
      return recorded.quantile(quantile);
    }

    /** Returns different durations only, since there may be billions of equal ones. */
    @Override
    public long[] getValues() {
      LongStream.Builder values = LongStream.builder();
      recorded.forEach((micros, _) -> values.add(micros));
      return values.build().toArray();
    }

    @Override
    public int size() {
      return (int) Math.min(Integer.MAX_VALUE, recorded.count());
    }

    @Override
    public long getMax() {
      return recorded.quantile(1);
    }

    @Override
    public long getMin() {
      return recorded.quantile(0);
    }

    @Override
    public double getMean() {
      double[] sum = new double[1];
      recorded.forEach((micros, times) -> sum[0] += (double) micros * times);
      return sum[0] / Math.max(1, recorded.count());
    }

    @Override
    public double getStdDev() {
      double mean = getMean();
      double[] squares = new double[1];
      recorded.forEach((micros, times) -> squares[0] += times * Math.pow(micros - mean, 2));
      return Math.sqrt(squares[0] / Math.max(1, recorded.count() - 1));
    }

    @Override
    public void dump(OutputStream output) {
      PrintWriter out = new PrintWriter(output, true, StandardCharsets.UTF_8);
      recorded.forEach((micros, times) -> out.println(micros + " " + times));
    }
  }
}
