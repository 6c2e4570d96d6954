package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import scala.reflect.ClassTag$;

/** READs from every executor to every other, and which pairs stand out. */
final class Mesh {
  private static final String NAME = "mesh";
  private static final int MOST_NAMED = 20;

  /** Less than this part of the median bandwidth is slow. */
  private static final double SLOW = 0.5;

  private Mesh() {}

  /**
   * @throws Exception where it does not end in time, or an executor is lost
   */
  static List<Finding> findings(Executors executors, long timeoutSeconds) throws Exception {
    RDD<MeshRead> mesh =
        executors
            .onEach()
            .rdd()
            .barrier()
            .mapPartitions(new MeshTask(), false, ClassTag$.MODULE$.apply(MeshRead.class));
    JavaFutureAction<List<MeshRead>> reads =
        JavaRDD.fromRDD(mesh, ClassTag$.MODULE$.<MeshRead>apply(MeshRead.class)).collectAsync();
    try {
      return of(reads.get(timeoutSeconds, TimeUnit.SECONDS), executors::words);
    } finally {
      reads.cancel(true);
    }
  }

  /**
   * @param words of an executor
   */
  static List<Finding> of(List<MeshRead> reads, Function<String, String> words) {
    if (reads.isEmpty()) {
      return List.of(Finding.warn(NAME, "no executor READs from another", "two executors or more"));
    }
    List<MeshRead> good =
        reads.stream()
            .filter(read -> !read.failed())
            .sorted(Comparator.comparingDouble(MeshRead::bytesPerSecond))
            .collect(Collectors.toList());
    List<Finding> findings = new ArrayList<>();
    if (!good.isEmpty()) {
      findings.addAll(ofBandwidth(good, words));
    }
    List<MeshRead> bad = reads.stream().filter(MeshRead::failed).collect(Collectors.toList());
    for (MeshRead read : first(bad)) {
      findings.add(
          Finding.fail(
              NAME,
              pair(read, words) + ": " + read.failure(),
              "firewall, routes and VLAN between the GIDs' addresses"));
    }
    if (bad.size() > MOST_NAMED) {
      findings.add(
          Finding.fail(NAME, (bad.size() - MOST_NAMED) + " more pairs cannot be READ", ""));
    }
    return findings;
  }

  private static List<Finding> ofBandwidth(List<MeshRead> sorted, Function<String, String> words) {
    double median = sorted.get(sorted.size() / 2).bytesPerSecond();
    List<Finding> findings = new ArrayList<>();
    findings.add(
        Finding.ok(
            NAME,
            String.format(
                "%d pairs READ, median %.0f MB/s; the slowest is %s",
                sorted.size(), median / 1e6, figures(sorted.get(0), words))));
    List<MeshRead> slow =
        sorted.stream()
            .filter(read -> read.bytesPerSecond() < SLOW * median)
            .collect(Collectors.toList());
    for (MeshRead read : first(slow)) {
      findings.add(
          Finding.warn(
              NAME,
              "slow: " + figures(read, words),
              "cable, link rate, PFC and ECN of the ports between"));
    }
    return findings;
  }

  private static List<MeshRead> first(List<MeshRead> reads) {
    return reads.subList(0, Math.min(MOST_NAMED, reads.size()));
  }

  private static String figures(MeshRead read, Function<String, String> words) {
    return String.format(
        "%s: %.0f MB/s, %.1f us", pair(read, words), read.bytesPerSecond() / 1e6, read.micros());
  }

  private static String pair(MeshRead read, Function<String, String> words) {
    return words.apply(read.to()) + " from " + words.apply(read.from());
  }
}
