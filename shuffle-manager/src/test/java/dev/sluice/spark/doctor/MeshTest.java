package dev.sluice.spark.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeshTest {
  private static MeshRead read(String to, String from, double megabytesPerSecond) {
    return new MeshRead(to, from, megabytesPerSecond * 1e6, 12.5, "");
  }

  private static List<Finding> findings(MeshRead... reads) {
    return Mesh.of(List.of(reads), id -> id + "@host" + id);
  }

  @Test
  void pairsThatAreSlowAndThatCannotBeReadAreNamed() {
    List<Finding> findings =
        findings(
            read("1", "2", 1000),
            read("2", "1", 1100),
            read("1", "3", 400),
            read("2", "3", 900),
            MeshRead.failed("3", "1", "RETRY_EXC_ERR"));

    assertThat(findings)
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.WARN, Level.FAIL);
    assertThat(findings.get(0).said()).contains("4 pairs READ, median 1000 MB/s");
    assertThat(findings.get(1).said()).contains("slow: 1@host1 from 3@host3: 400 MB/s, 12.5 us");
    assertThat(findings.get(2).said()).isEqualTo("3@host3 from 1@host1: RETRY_EXC_ERR");
  }

  @Test
  void manyThatCannotBeReadAreCounted() {
    List<MeshRead> reads =
        IntStream.range(0, 30)
            .mapToObj(i -> MeshRead.failed("a", Integer.toString(i), "CONNECT"))
            .toList();
    List<Finding> findings = Mesh.of(reads, id -> id);
    assertThat(findings).hasSize(21);
    assertThat(findings.getLast().said()).isEqualTo("10 more pairs cannot be READ");
  }

  @Test
  void oneExecutorAloneIsNoMesh() {
    assertThat(findings()).extracting(Finding::level).containsExactly(Level.WARN);
  }

  @Test
  void amongAlikeNoneIsSlow() {
    assertThat(findings(read("1", "2", 10), read("2", "1", 11)))
        .extracting(Finding::level)
        .containsExactly(Level.OK);
  }
}
