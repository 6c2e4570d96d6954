// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.codahale.metrics.Histogram;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Snapshot;
import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.ByteArrayOutputStream;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LatencyMetricsTest {
  private final LatencyHistogram all = new LatencyHistogram();
  private final Map<PeerAddress, LatencyHistogram> peers = new ConcurrentHashMap<>();

  /** A registry in which the source's one is a part, as in Spark's metrics system. */
  private final MetricRegistry sparks = new MetricRegistry();

  private final MetricRegistry registry = sparks.register("app.1.sluice", new MetricRegistry());
  private final LatencyMetrics metrics = new LatencyMetrics(registry, all, peers);

  private LatencyHistogram peer(String id, String host) {
    return peers.computeIfAbsent(new PeerAddress(id, host, 4000), _ -> new LatencyHistogram());
  }

  private Histogram shown(String name) {
    return sparks.getHistograms().get("app.1.sluice." + name);
  }

  private static void record(LatencyHistogram histogram, long micros, int times) {
    for (int i = 0; i < times; i++) {
      histogram.record(TimeUnit.MICROSECONDS.toNanos(micros), 1);
    }
  }

  @Test
  void allReadsHaveAHistogramFromTheStartOn() {
    Histogram histogram = shown("read-latency-micros");
    assertThat(histogram.getCount()).isZero();
    assertThat(histogram.getSnapshot().getMean()).isZero();
    assertThat(histogram.getSnapshot().getMax()).isZero();
    record(all, 100, 98);
    record(all, 5_000, 2);
    Snapshot snapshot = histogram.getSnapshot();
    assertThat(histogram.getCount()).isEqualTo(100);
    assertThat(snapshot.size()).isEqualTo(100);
    assertThat(snapshot.getMedian()).isCloseTo(100, within(13.0));
    assertThat(snapshot.get99thPercentile()).isCloseTo(5_000, within(625.0));
    assertThat(snapshot.getMin()).isEqualTo((long) snapshot.getMedian());
    assertThat(snapshot.getMax()).isEqualTo((long) snapshot.get99thPercentile());
    assertThat(snapshot.getMean()).isCloseTo(198, within(25.0));
    assertThat(snapshot.getStdDev()).isCloseTo(690, within(90.0));
    assertThat(snapshot.getValues()).containsExactly(snapshot.getMin(), snapshot.getMax());
  }

  @Test
  void peersAppearAndGoAtTheNextRefresh() {
    record(peer("7", "node-1.example.org"), 300, 5);
    metrics.refresh();
    Histogram seven = shown("read-latency-micros.7-node-1_example_org");
    assertThat(seven.getCount()).isEqualTo(5);
    assertThat(seven.getSnapshot().getMedian()).isCloseTo(300, within(38.0));
    peers.clear();
    assertThat(seven.getCount()).isZero();
    metrics.refresh();
    assertThat(sparks.getNames()).containsExactly("app.1.sluice.read-latency-micros");
  }

  @Test
  void theNumberOfPeersIsLimitedAndAForgottenOneMakesRoom() {
    for (int i = 0; i < 2 * LatencyMetrics.MAX_PEERS; i++) {
      peer("" + i, "host");
    }
    metrics.refresh();
    assertThat(registry.getHistograms()).hasSize(1 + LatencyMetrics.MAX_PEERS);
    peers.clear();
    peer("new", "host");
    metrics.refresh();
    assertThat(registry.getNames())
        .containsExactly("read-latency-micros", "read-latency-micros.new-host");
  }

  /** Spark's registry refuses a second metric of a name. */
  @Test
  void peersThatDifferInOtherCharactersAloneAreShownOnce() {
    peer("a.b", "host");
    peer("a_b", "host");
    metrics.refresh();
    assertThat(registry.getNames())
        .containsExactly("read-latency-micros", "read-latency-micros.a_b-host");
  }

  @Test
  void aDumpHasEachDurationWithItsNumber() {
    record(all, 1, 2);
    record(all, 3, 1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    shown("read-latency-micros").getSnapshot().dump(out);
    assertThat(out.toString()).isEqualToIgnoringNewLines("1 2\n3 1\n");
  }
}
