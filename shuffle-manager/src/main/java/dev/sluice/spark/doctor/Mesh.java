package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import scala.reflect.ClassTag$;

/** READs from every node to every other, and which nodes and pairs stand out. */
final class Mesh {
  static final String NAME = "mesh";

  private Mesh() {}

  /**
   * @throws Exception where it does not end in time, or an executor is lost
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
   * @param hosts that should have taken part
   */
  static List<Finding> of(List<MeshReport> reports, List<String> hosts) {
    if (hosts.size() < 2) {
      return List.of(
          Finding.warn(NAME, "no host READs from another", "executors on two hosts or more"));
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
    findings.addAll(OddPairs.failed(reads));
    findings.addAll(OddPairs.slow(reads));
    return findings;
  }

  private static Finding summary(List<MeshRead> reads, MeshRead slowest) {
    return Finding.ok(
        NAME,
        String.format(
            "%d pairs READ, median %.0f MB/s; the slowest is %s",
            reads.stream().filter(read -> !read.failed()).count(),
            MeshRead.median(reads) / 1e6,
            slowest));
  }

  /** Nodes without a device, and those where no task ran. */
  private static List<Finding> ofAbsent(List<MeshReport> reports, List<String> hosts) {
    Map<String, List<String>> hostsByReason = new LinkedHashMap<>();
    for (MeshReport report : reports) {
      if (!report.failure().isEmpty()) {
        hostsByReason.computeIfAbsent(report.failure(), r -> new ArrayList<>()).add(report.host());
      }
    }
    TreeSet<String> missing = new TreeSet<>(hosts);
    reports.forEach(report -> missing.remove(report.host()));
    if (!missing.isEmpty()) {
      hostsByReason.put("no free core of its executor, or it is gone", new ArrayList<>(missing));
    }
    List<Finding> findings = new ArrayList<>();
    hostsByReason.forEach(
        (reason, which) ->
            findings.add(
                Finding.fail(
                    NAME,
                    "take no part: " + reason + ": " + Table.names(which),
                    "what the other lines of these nodes say; idle executors")));
    return findings;
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
        Finding.warn("mtu", said, "the same MTU on all network devices, and on switches"));
  }

  private static List<Finding> ofUntried(List<MeshReport> reports) {
    List<MeshReport> some =
        reports.stream().filter(report -> report.untried() > 0).collect(Collectors.toList());
    if (some.isEmpty()) {
      return List.of();
    }
    return List.of(
        Finding.warn(
            NAME,
            String.format(
                "%d pairs were not tried, as the time was over or the first ones all failed: to %s",
                some.stream().mapToInt(MeshReport::untried).sum(),
                Table.names(some.stream().map(MeshReport::host).collect(Collectors.toList()))),
            "what fails first; then again"));
  }
}
