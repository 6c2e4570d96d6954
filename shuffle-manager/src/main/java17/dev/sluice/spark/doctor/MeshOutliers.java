// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import static java.util.Objects.requireNonNull;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Findings about pairs of the mesh that stand out. Pairs with a node in common are one finding,
 * since one bad node among hundreds makes hundreds of bad pairs. {@link Mesh} makes one for each
 * kind, on the driver's main thread.
 */
final class MeshOutliers {
  /** Limit of findings about nodes, and about pairs, so that the table stays readable. */
  private static final int MOST_NAMED = 20;

  /** Number of a node's bad pairs that may be the fault of other nodes. */
  private static final int FEW = 2;

  private enum Kind {
    FAILED(Level.FAIL, "fail", ""),
    SLOW(Level.WARN, "are slow", "slow: ");

    private final Level level;
    private final String ofMany;
    private final String ofOne;

    Kind(Level level, String ofMany, String ofOne) {
      this.level = level;
      this.ofMany = ofMany;
      this.ofOne = ofOne;
    }
  }

  private final List<MeshRead> all;
  private final Kind kind;
  private final List<Finding> findings = new ArrayList<>();

  private MeshOutliers(List<MeshRead> all, Kind kind) {
    this.all = all;
    this.kind = kind;
  }

  /**
   * @param all pairs that were tried
   */
  static List<Finding> failed(List<MeshRead> all) {
    return new MeshOutliers(all, Kind.FAILED)
        .of(all.stream().filter(MeshRead::failed).collect(Collectors.toList()));
  }

  /**
   * @param all pairs that were tried
   */
  static List<Finding> slow(List<MeshRead> all) {
    double median = MeshRead.median(all);
    return new MeshOutliers(all, Kind.SLOW)
        .of(all.stream().filter(read -> read.isSlow(median)).collect(Collectors.toList()));
  }

  private List<Finding> of(List<MeshRead> odd) {
    List<MeshRead> left = addNodes(addNodes(odd, MeshRead::to, "by"), MeshRead::from, "from");
    addFirst(
        left.stream().map(read -> finding(kind.ofOne + read, read)).collect(Collectors.toList()),
        "such pairs");
    return findings;
  }

  /**
   * Adds findings about the nodes most of whose pairs stand out.
   *
   * @return the pairs of other nodes
   */
  private List<MeshRead> addNodes(
      List<MeshRead> odd, Function<MeshRead, String> node, String side) {
    Map<String, Long> tried =
        all.stream().collect(Collectors.groupingBy(node, Collectors.counting()));
    Map<String, List<MeshRead>> bad =
        odd.stream().collect(Collectors.groupingBy(node, TreeMap::new, Collectors.toList()));
    bad.entrySet()
        .removeIf(
            its ->
                its.getValue().size() <= FEW
                    || 2L * its.getValue().size() <= requireNonNull(tried.get(its.getKey())));
    List<Finding> nodes = new ArrayList<>();
    bad.forEach(
        (name, its) ->
            nodes.add(
                finding(
                    String.format(
                        "%d of %d READs %s %s %s, such as %s",
                        its.size(), tried.get(name), side, name, kind.ofMany, its.get(0)),
                    its.get(0))));
    addFirst(nodes, "such nodes");
    return odd.stream()
        .filter(read -> !bad.containsKey(node.apply(read)))
        .collect(Collectors.toList());
  }

  private void addFirst(List<Finding> some, String what) {
    findings.addAll(some.subList(0, Math.min(MOST_NAMED, some.size())));
    if (some.size() > MOST_NAMED) {
      findings.add(
          new Finding(
              Mesh.NAME,
              kind.level,
              (some.size() - MOST_NAMED) + " more " + what,
              "fix those above; then run the doctor again"));
    }
  }

  private Finding finding(String said, MeshRead example) {
    Finding finding =
        new Finding(
            Mesh.NAME,
            kind.level,
            said,
            kind == Kind.FAILED
                ? example.set()
                : "check cable, link rate, PFC and ECN of the ports between");
    return finding
        .with("to", example.to())
        .with("from", example.from())
        .with("read_bytes_per_second", example.bytesPerSecond())
        .with("failure", example.failure());
  }
}
