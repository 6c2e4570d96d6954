// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Benchmark.ComparisonTable;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.terasort.SortJob.SortResult;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TeraSortReportTest {
  private static final TeraData.Input INPUT = new TeraData.Input(Path.of("input"), 10, "5abc");

  @Test
  void theResultIsOneJsonObjectThatBeginsWithTheAgreedKeys() throws Exception {
    TeraSortReport report = report(false);
    report.add(Shuffle.SLUICE, sluice(2.5, 700, Map.of("read.bytes", 700L)), List.of());
    report.add(Shuffle.STOCK, stock(2.0), List.of());
    assertThat(report.json(null))
        .startsWith(
            """
            {"valid":true,"records":10,"checksum":"5abc","provider":"soft","sluice_s":[2.5],\
            "stock_s":[2.0],"bytes":{"read":700,"local":300,"fallback":0},"fallbacks":{}\
            """);
  }

  @Test
  void stagedBytesAreReported() throws Exception {
    TeraSortReport report = report(false);
    Map<String, Long> staged = Map.of("read.bytes", 700L, "staged.bytes", 500L);
    report.add(Shuffle.SLUICE, sluice(2.5, 700, staged), List.of());
    assertThat(report.transfer()).contains("read 700 (500 staged)");
    assertThat(report.json(null)).contains("\"staged_bytes\":500");
  }

  @Test
  void cpuTimeOfBothIsReportedWithItsRatio() throws Exception {
    TeraSortReport report = report(false);
    report.add(Shuffle.SLUICE, sluice(2.5, 700, Map.of("read.bytes", 700L)), List.of());
    report.add(Shuffle.STOCK, stock(2.0), List.of());
    assertThat(ComparisonTable.plain(report.rows("terasort-1k")))
        .containsPattern("terasort-1k-cpu +s +5.00 +stock 3.00 +1.67");
    assertThat(report.json(null)).contains("\"sluice_cpu_s\":[5.0],\"stock_cpu_s\":[3.0]");
  }

  @Test
  void theLargestDriverIsReported() throws Exception {
    TeraSortReport report = report(false);
    report.add(Shuffle.SLUICE, sluice(2.5, 700, Map.of("read.bytes", 700L)), List.of());
    report.add(Shuffle.STOCK, stock(2.0), List.of());
    assertThat(report.transfer()).contains("memory  driver 500 MB, this command ");
    assertThat(report.json(null))
        .contains("\"driver_peak_bytes\":500000000,\"command_peak_bytes\":");
  }

  @Test
  void aDriverOfMoreThanOneGigabyteIsInvalid() {
    TeraSortReport report = report(false);
    report.add(Shuffle.STOCK, stock(2.0, 1_000_000_000), List.of());
    report.add(Shuffle.STOCK, stock(2.0, 1_200_000_000), List.of());
    assertThat(report.problems())
        .containsExactly(
            "stock 2: the driver had 1200 MB resident, but an input of up to 1 GB needs 1000 MB at"
                + " most");
  }

  @Test
  void aLargerInputMayTakeALargerDriver() {
    TeraSortReport report =
        new TeraSortReport(new TeraData.Input(Path.of("input"), 10_000_001, "5abc"), false);
    report.add(Shuffle.SLUICE, sluice(2.5, 700, Map.of("read.bytes", 700L)), List.of());
    report.add(Shuffle.STOCK, stock(2.0, 1_200_000_000), List.of());
    assertThat(report.problems()).isEmpty();
  }

  @Test
  void allRemoteBytesOfSparkMustHaveBeenRead() {
    TeraSortReport report = report(false);
    report.add(Shuffle.SLUICE, sluice(1, 701, Map.of("read.bytes", 700L)), List.of());
    assertThat(report.problems())
        .singleElement()
        .asString()
        .startsWith("sluice 1: 700 bytes came by READ")
        .contains("701");
  }

  @Test
  void aFallbackIsInvalidWithItsReason() throws Exception {
    TeraSortReport report = report(false);
    report.add(Shuffle.SLUICE, sluice(1, 700, FALLBACK), List.of());
    assertThat(report.problems()).isNotEmpty();
    assertThat(report.json(null)).contains("\"fallbacks\":{\"CHECKSUM\":1}");
  }

  @Test
  void injectedCorruptionMustBeNoticedAndMayFallBack() {
    TeraSortReport noticed = report(true);
    noticed.add(Shuffle.SLUICE, sluice(1, 700, with(FALLBACK, "corruptions", 2L)), List.of());
    assertThat(noticed.problems()).isEmpty();
    TeraSortReport unnoticed = report(true);
    unnoticed.add(Shuffle.SLUICE, sluice(1, 700, Map.of("read.bytes", 700L)), List.of());
    assertThat(unnoticed.problems()).isNotEmpty();
  }

  @Test
  void anInvalidOutputOfTheStockShuffleIsInvalidToo() {
    TeraSortReport report = report(false);
    report.add(Shuffle.STOCK, stock(1), List.of("output has checksum 1, but the input has 5abc"));
    assertThat(report.problems())
        .containsExactly("stock 1: output has checksum 1, but the input has 5abc");
  }

  @Test
  void aSortThatFailedIsInvalid() throws Exception {
    TeraSortReport report = report(false);
    report.add(Shuffle.SLUICE, sluice(1, 700, Map.of("read.bytes", 700L)), List.of());
    report.failed(new IOException("stock: driver ended with status 1"));
    assertThat(report.json(null))
        .startsWith("{\"valid\":false")
        .contains("driver ended with status 1");
  }

  @Test
  void noSortAtAllIsNotValid() {
    assertThat(report(false).problems()).isNotEmpty();
  }

  @Test
  void rowsHaveTheSortsPairByPair() {
    TeraSortReport report = report(false);
    report.add(Shuffle.SLUICE, sluice(3, 700, Map.of("read.bytes", 700L)), List.of());
    report.add(Shuffle.STOCK, stock(2), List.of());
    assertThat(report.rows("terasort-1g-staged"))
        .extracting(Comparison::name)
        .containsExactly("terasort-1g-staged", "terasort-1g-staged-cpu");
    assertThat(report.rows("terasort-1g")).extracting(Comparison::ratio).containsExactly(1.5, 2.0);
  }

  private static final Map<String, Long> FALLBACK =
      Map.of("read.bytes", 600L, "fallback.bytes.CHECKSUM", 100L, "fallback.blocks.CHECKSUM", 1L);

  private static TeraSortReport report(boolean expectCorruption) {
    return new TeraSortReport(INPUT, expectCorruption);
  }

  private static SortResult sluice(double seconds, long remoteBytes, Map<String, Long> counters) {
    SluiceTotals totals =
        new SluiceTotals("soft soft0", remoteBytes, with(counters, "local.bytes", 300L));
    return new SortResult(seconds, 2 * seconds, 500_000_000, totals);
  }

  private static SortResult stock(double seconds) {
    return stock(seconds, 400_000_000);
  }

  private static SortResult stock(double seconds, long driverBytes) {
    return new SortResult(seconds, 1.5 * seconds, driverBytes, SluiceTotals.NONE);
  }

  private static Map<String, Long> with(Map<String, Long> totals, String name, long value) {
    Map<String, Long> with = new HashMap<>(totals);
    with.put(name, value);
    return with;
  }
}
