// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeshTest {
  private static MeshRead read(String to, String from, double megabytesPerSecond) {
    return new MeshRead(to, from, megabytesPerSecond * 1e6, 12.5, 0);
  }

  private static MeshRead failed(String to, String from) {
    return MeshRead.failed(to, from, "RETRY_EXC_ERR", "the firewall");
  }

  private static MeshReport report(String host, MeshRead... reads) {
    return new MeshReport(host, "", 4096, List.of(reads), 0);
  }

  private static List<String> hosts(int count) {
    return IntStream.range(0, count).mapToObj(i -> "n" + i).toList();
  }

  /** Returns findings about each node's READs from all others. */
  private static List<Finding> findings(
      int nodes, BiFunction<Integer, Integer, MeshRead> readOfPair) {
    List<MeshReport> reports = new ArrayList<>();
    for (int to = 0; to < nodes; to++) {
      int reader = to;
      MeshRead[] reads =
          IntStream.range(0, nodes)
              .filter(from -> from != reader)
              .mapToObj(from -> readOfPair.apply(reader, from))
              .toArray(MeshRead[]::new);
      reports.add(report("n" + to, reads));
    }
    return Mesh.of(reports, hosts(nodes));
  }

  private static List<String> said(List<Finding> findings, Level level) {
    return findings.stream().filter(f -> f.level() == level).map(Finding::said).toList();
  }

  @Test
  void pairsThatAreSlowAndThatCannotBeReadAreNamed() {
    List<Finding> findings =
        Mesh.of(
            List.of(
                report("1", read("1", "2", 1000), read("1", "3", 400)),
                report("2", read("2", "1", 1100), read("2", "3", 900)),
                report("3", failed("3", "1"), read("3", "2", 1000))),
            List.of("1", "2", "3"));

    assertThat(said(findings, Level.OK))
        .containsExactly(
            "5 pairs READ, median 1000 MB/s, not judged because no port has a known rate; the"
                + " slowest is 1 from 3: 400 MB/s, 12.5 us");
    assertThat(said(findings, Level.WARN)).containsExactly("slow: 1 from 3: 400 MB/s, 12.5 us");
    assertThat(said(findings, Level.FAIL)).containsExactly("3 from 1: RETRY_EXC_ERR");
    assertThat(findings.get(1).set()).isEqualTo("the firewall");
  }

  /** One of hundreds of executors is bad. Its pairs would hide all others. */
  @Test
  void aNodeThatIsBadIsNamedOnce() {
    List<Finding> findings =
        findings(
            40,
            (to, from) ->
                to == 3 || from == 3 || to == 7 && from == 8
                    ? failed("n" + to, "n" + from)
                    : read("n" + to, "n" + from, to == 5 ? 100 : 1000));

    assertThat(said(findings, Level.FAIL))
        .containsExactly(
            "39 of 39 READs by n3 fail, such as n3 from n0: RETRY_EXC_ERR",
            "39 of 39 READs from n3 fail, such as n0 from n3: RETRY_EXC_ERR",
            "n7 from n8: RETRY_EXC_ERR");
    assertThat(said(findings, Level.WARN))
        .containsExactly("38 of 39 READs by n5 are slow, such as n5 from n0: 100 MB/s, 12.5 us");
    assertThat(findings).extracting(Finding::set).filteredOn(String::isEmpty).hasSize(1);
  }

  @Test
  void manyPairsAreCounted() {
    List<Finding> findings =
        findings(
            50,
            (to, from) ->
                from == (to + 1) % 50 && to < 25
                    ? failed("n" + to, "n" + from)
                    : read("n" + to, "n" + from, from == (to + 2) % 50 ? 10 : 1000));

    assertThat(said(findings, Level.FAIL)).hasSize(21).last().isEqualTo("5 more such pairs");
    assertThat(said(findings, Level.WARN)).hasSize(21).last().isEqualTo("30 more such pairs");
  }

  @Test
  void executorsThatTakeNoPartAreNamed() {
    List<Finding> findings =
        Mesh.of(
            List.of(
                report("1", read("1", "2", 1000)),
                report("2", read("2", "1", 1000)),
                new MeshReport("3", "no answer within 60 s", 0, List.of(), 0)),
            List.of("1", "2", "3", "4"));

    assertThat(said(findings, Level.FAIL))
        .containsExactly(
            "hosts that take no part: no answer within 60 s: 3",
            "hosts that take no part: the executor has no free core, or is gone: 4");
  }

  @Test
  void untriedPairsAreCounted() {
    List<Finding> findings =
        Mesh.of(
            List.of(
                report("1", read("1", "2", 1000)),
                new MeshReport("2", "", 4096, List.of(read("2", "1", 1000)), 7)),
            List.of("1", "2"));

    assertThat(said(findings, Level.WARN))
        .singleElement()
        .asString()
        .startsWith("7 pairs were not tried")
        .endsWith(": to 2");
  }

  @Test
  void mtusThatDifferAreNamed() {
    List<Finding> findings =
        Mesh.of(
            List.of(
                report("1", read("1", "2", 1000)),
                report("2", read("2", "3", 1000)),
                new MeshReport("3", "", 1024, List.of(read("3", "1", 1000)), 0)),
            List.of("1", "2", "3"));

    assertThat(said(findings, Level.WARN))
        .containsExactly("MTU is 1024 on 3; 4096 on 1, 2: the smaller one of two counts");
  }

  @Test
  void oneHostAloneCausesNoWarning() {
    assertThat(Mesh.of(List.of(), List.of("1")))
        .extracting(Finding::level)
        .containsExactly(Level.OK);
  }

  @Test
  void readsAreComparedWithTheRateOfThePorts() {
    assertThat(ofShare(0.01))
        .satisfies(
            slow -> assertThat(slow.level()).isEqualTo(Level.WARN),
            slow -> assertThat(slow.said()).contains("125 MB/s, 1 % of the slower port's rate"));
    assertThat(ofShare(0.24).level()).isEqualTo(Level.WARN);
    assertThat(ofShare(0.26).level()).isEqualTo(Level.OK);
  }

  private static Finding ofShare(double share) {
    double link = 100e9 / 8;
    List<Finding> findings =
        findings(3, (to, from) -> new MeshRead("n" + to, "n" + from, share * link, 3, link));
    assertThat(findings).hasSize(1);
    return findings.getFirst();
  }

  @Test
  void equalPairsAreNotSlow() {
    assertThat(findings(2, (to, from) -> read("n" + to, "n" + from, 10 + to)))
        .extracting(Finding::level)
        .containsExactly(Level.OK);
  }
}
