// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import scala.reflect.ClassTag$;

/**
 * READs from every node to every other, and finds the nodes and pairs that stand out. {@link
 * Doctor} calls it on its main thread, which waits for the job and cancels it when the time is
 * over.
 */
final class Mesh {
  static final String NAME = "mesh";

  /** Names of the checks' findings about executors that explain why they take no part. */
  private static final List<String> EXECUTORS_CAUSES =
      List.of(
          "java", "devices", "rdma-core", "device files", "port", "memlock", "provider", "reads");

  /** Least share of a port's rate. It is low as all hosts READ at once, some from the same one. */
  private static final double SLOW_SHARE = 0.25;

  private Mesh() {}

  /**
   * @param timeoutSeconds limit of the job
   * @throws Exception if it does not end in time, or an executor is lost
   */
  static List<Finding> findings(Executors executors, long timeoutSeconds) throws Exception {
    if (executors.hosts().size() < 2) {
      return of(List.of(), executors.hosts());
    }
    RDD<MeshReport> mesh =
        executors
            .onEachHost()
            .rdd()
            .barrier()
            .mapPartitions(new MeshTask(), false, ClassTag$.MODULE$.apply(MeshReport.class));
    JavaFutureAction<List<MeshReport>> reports =
        JavaRDD.fromRDD(mesh, ClassTag$.MODULE$.<MeshReport>apply(MeshReport.class)).collectAsync();
    try {
      return of(reports.get(timeoutSeconds, TimeUnit.SECONDS), executors.hosts());
    } finally {
      reports.cancel(true);
    }
  }

  /**
   * @param hosts hosts that should have taken part
   */
  static List<Finding> of(List<MeshReport> reports, List<String> hosts) {
    if (hosts.size() < 2) {
      return List.of(Finding.ok(NAME, "one host: there is no pair to check").with("pairs", 0));
    }
    List<MeshRead> reads =
        reports.stream().flatMap(report -> report.reads().stream()).collect(Collectors.toList());
    List<Finding> findings = new ArrayList<>();
    reads.stream()
        .filter(read -> !read.failed())
        .min(Comparator.comparingDouble(MeshRead::bytesPerSecond))
        .ifPresent(slowest -> findings.add(summary(reads, slowest)));
    findings.addAll(ofAbsent(reports, hosts));
    findings.addAll(ofUntried(reports));
    findings.addAll(ofMtu(reports));
    findings.addAll(MeshOutliers.failed(reads));
    findings.addAll(MeshOutliers.slow(reads));
    return findings;
  }

  /** Returns the hosts that a finding is about; none if it is about pairs. */
  static List<String> hosts(Finding finding) {
    return finding.values().get("hosts") instanceof List<?> hosts
        ? hosts.stream().map(Object::toString).collect(Collectors.toList())
        : List.of();
  }

  private static Finding summary(List<MeshRead> reads, MeshRead slowest) {
    long pairs = reads.stream().filter(read -> !read.failed()).count();
    double median = MeshRead.median(reads);
    OptionalDouble share = MeshRead.medianShare(reads);
    String said =
        String.format(
            "%d pairs READ, median %.0f MB/s%s; the slowest is %s",
            pairs,
            median / 1e6,
            share.isPresent()
                ? String.format(", %.0f %% of the slower port's rate", 100 * share.getAsDouble())
                : ", not judged because no port has a known rate",
            slowest);
    Finding finding =
        share.isPresent() && share.getAsDouble() < SLOW_SHARE
            ? Finding.warn(
                NAME,
                said,
                "a quarter of the rate or more is usual: check link rates, PFC and ECN, PCIe"
                    + " width and NUMA node of adapters (docs/hardware.md); run doctor --peer"
                    + " between two idle nodes")
            : Finding.ok(NAME, said);
    finding =
        finding
            .with("pairs", pairs)
            .with("median_bytes_per_second", median)
            .with("slowest_to", slowest.to())
            .with("slowest_from", slowest.from())
            .with("slowest_bytes_per_second", slowest.bytesPerSecond());
    return share.isPresent() ? finding.with("median_link_share", share.getAsDouble()) : finding;
  }

  /** Returns findings about nodes without a device, and about those where no task ran. */
  private static List<Finding> ofAbsent(List<MeshReport> reports, List<String> hosts) {
    Map<String, List<String>> hostsByReason = new LinkedHashMap<>();
    for (MeshReport report : reports) {
      if (!report.failure().isEmpty()) {
        hostsByReason.computeIfAbsent(report.failure(), r -> new ArrayList<>()).add(report.host());
      }
    }
    List<Finding> findings = new ArrayList<>();
    hostsByReason.forEach(
        (reason, which) ->
            findings.add(
                absent(reason, which)
                    .causedBy(EXECUTORS_CAUSES, Table.names(which) + " READ nothing")));
    TreeSet<String> missing = new TreeSet<>(hosts);
    reports.forEach(report -> missing.remove(report.host()));
    if (!missing.isEmpty()) {
      findings.add(absent("the executor has no free core, or is gone", List.copyOf(missing)));
    }
    return findings;
  }

  private static Finding absent(String reason, List<String> which) {
    return Finding.fail(
            NAME,
            "hosts that take no part: " + reason + ": " + Table.names(which),
            "see the other lines of these nodes; run the doctor on idle executors")
        .with("reason", reason)
        .with("hosts", which);
  }

  private static List<Finding> ofMtu(List<MeshReport> reports) {
    Map<Integer, List<String>> hostsByMtu = new TreeMap<>();
    for (MeshReport report : reports) {
      if (report.mtu() > 0) {
        hostsByMtu.computeIfAbsent(report.mtu(), m -> new ArrayList<>()).add(report.host());
      }
    }
    if (hostsByMtu.size() < 2) {
      return List.of();
    }
    String said =
        hostsByMtu.entrySet().stream()
            .map(entry -> entry.getKey() + " on " + Table.names(entry.getValue()))
            .collect(Collectors.joining("; ", "MTU is ", ": the smaller one of two counts"));
    return List.of(
        Finding.warn("mtu", said, "set the same MTU on all network devices, and on switches")
            .with("hosts_by_mtu_bytes", hostsByMtu));
  }

  private static List<Finding> ofUntried(List<MeshReport> reports) {
    List<MeshReport> some =
        reports.stream().filter(report -> report.untried() > 0).collect(Collectors.toList());
    if (some.isEmpty()) {
      return List.of();
    }
    int untried = some.stream().mapToInt(MeshReport::untried).sum();
    List<String> to = some.stream().map(MeshReport::host).collect(Collectors.toList());
    return List.of(
        Finding.warn(
                NAME,
                String.format(
                    "%d pairs were not tried, because the time was over or the first ones all"
                        + " failed: to %s",
                    untried, Table.names(to)),
                "fix what fails first; then run the doctor again")
            .with("pairs_not_tried", untried)
            .with("hosts", to));
  }
}
