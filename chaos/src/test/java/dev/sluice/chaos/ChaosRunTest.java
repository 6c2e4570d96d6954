// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.chaos.ChaosRun.RunResult;
import dev.sluice.chaos.ChaosRun.RunResult.Outcome;
import dev.sluice.chaos.ChaosRun.RunResult.Run;
import dev.sluice.chaos.ChaosRun.Stock;
import dev.sluice.chaos.ChaosRuns.Cell;
import dev.sluice.chaos.ChaosRuns.ChaosFile;
import dev.sluice.chaos.fault.Fault;
import dev.sluice.chaos.fault.Faults;
import dev.sluice.chaos.workload.Workload;
import dev.sluice.testkit.Stages.Losses;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChaosRunTest {
  private static final Sums RIGHT = new Sums(3, 77);

  @Test
  void aRunThatEqualsTheStockShufflesIsWithoutComplaint() {
    assertThat(new Example("bad-key").run().complaints()).isEmpty();
  }

  @Test
  void everyProblemIsReported() {
    assertThat(new Example("bad-key").answer(new Sums(3, 78)).run().complaints())
        .singleElement()
        .asString()
        .startsWith("WRONG ANSWER");
    assertThat(new Example("bad-key").ended(Outcome.HANG).run().complaints())
        .containsExactly("HANG: a reason");
    assertThat(new Example("bad-key").ended(Outcome.FAILED).run().complaints())
        .containsExactly("FAILED: a reason");
    assertThat(new Example("bad-key").ended(Outcome.HARNESS).run().complaints())
        .containsExactly("HARNESS: a reason");
    assertThat(new Example("bad-key").leak("a region").run().complaints())
        .containsExactly("LEAK: a region");
  }

  @Test
  void stagesMayRunAgainOnlyForFaultsThatHitTheStockShuffleToo() {
    Losses retry = new Losses(1, 0, 0, 0);
    assertThat(new Example("bad-key").losses(retry).run().complaints())
        .singleElement()
        .asString()
        .startsWith("UNEXPECTED LOSSES: ");
    assertThat(new Example("killed-in-read").losses(retry).run().complaints()).isEmpty();
  }

  @Test
  void aJobOfMoreShufflesHasMoreStagesThatMayBeRunAgain() {
    Losses five = new Losses(5, 0, 0, 1);
    assertThat(new Example("killed-in-read").losses(five).run().complaints()).hasSize(1);
    assertThat(new Example("killed-in-read").of("cogroup").losses(five).run().complaints())
        .isEmpty();
    assertThat(new Example("bad-key").of("cogroup").losses(five).run().complaints()).hasSize(1);
  }

  @Test
  void faultsOfRdmaAloneFailNoTask() {
    Losses task = new Losses(0, 0, 1, 0);
    assertThat(new Example("bad-key").losses(task).run().complaints()).hasSize(1);
    assertThat(new Example("stopped-5s").losses(task).run().complaints()).isEmpty();
  }

  @Test
  void executorsEndOnlyByFaultsThatEndExecutors() {
    Losses executor = new Losses(0, 0, 0, 1);
    assertThat(new Example("file-truncated").losses(executor).run().complaints()).hasSize(1);
    assertThat(new Example("none").losses(executor).run().complaints()).hasSize(1);
    assertThat(new Example("killed-reading").losses(executor).run().complaints()).isEmpty();
  }

  @Test
  void levelsThatGrowOverALongSeriesAreReported() {
    List<ChaosRun> level = new ArrayList<>();
    List<ChaosRun> growing = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      level.add(new Example("bad-key").holds("descriptors", 200 + i % 3, i).run());
      growing.add(new Example("bad-key").holds("descriptors", 200 + 3 * i, i).run());
    }
    assertThat(ChaosReport.grown(level)).isEmpty();
    assertThat(ChaosReport.grown(growing.reversed()))
        .singleElement()
        .asString()
        .startsWith("descriptors, from 28");
  }

  @Test
  void aFaultThatStandsForOthersIsJudgedByTheOneThatStruck() {
    Losses losses = new Losses(1, 1, 0, 1);
    Example killed = new Example("mixed").losses(losses);
    assertThat(killed.cause("killed-in-read").run().complaints()).isEmpty();
    assertThat(killed.cause("bad-key").run().complaints()).hasSize(1);
  }

  @Test
  void twiceTheStockShufflesTimeIsAllowedAndSomeSlack() {
    assertThat(new Example("stopped-5s").seconds(35).run().isLate()).isFalse();
    assertThat(new Example("stopped-5s").seconds(45).run().complaints())
        .containsExactly("LATE: 45.0 s, stock 10.0 s");
  }

  @Test
  void aBarrierStageThatIsRepeatedMayWaitForItsMissingTasks() {
    Example barrier = new Example("file-truncated").of("barrier").seconds(55);
    assertThat(barrier.run().complaints()).containsExactly("LATE: 55.0 s, stock 10.0 s");
    assertThat(barrier.losses(new Losses(1, 0, 0, 0)).run().complaints()).isEmpty();
  }

  @Test
  void theTableCountsByFaultAndWorkload() {
    String table =
        ChaosReport.table(
            List.of(
                new Example("bad-key").seconds(1).run(),
                new Example("bad-key").seconds(3).answer(new Sums(0, 0)).run(),
                new Example("stopped-5s").ended(Outcome.HANG).run()));
    assertThat(table.lines().map(line -> line.replaceAll(" +", " ")))
        .contains(
            "| bad-key | group-by | 2 | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 2.0 | 3.0 | 10.0 |",
            "| stopped-5s | group-by | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | | | 10.0 |",
            "| all | | 3 | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 2.0 | 3.0 | |");
  }

  @Test
  void aFaultThatStruckInNoRunIsNamed() {
    assertThat(
            ChaosReport.neverStruck(
                List.of(
                    new Example("bad-key").run(),
                    new Example("bad-key").ended(Outcome.FAILED).run(),
                    new Example("corrupt").ended(Outcome.FAILED).run())))
        .containsExactly("corrupt group-by");
  }

  @Test
  void runsComeBackFromTheirFile(@TempDir Path directory) throws IOException {
    ChaosFile file = new ChaosFile(directory.resolve("runs.json"), "a1");
    assertThat(file.read()).isEmpty();
    ChaosRun first = new Example("bad-key").leak("a region").run();
    ChaosRun second = new Example("corrupt").ended(Outcome.FAILED).run();
    file.add(first);
    file.add(second);
    assertThat(file.read()).containsExactly(first, second);
    assertThatThrownBy(() -> new ChaosFile(directory.resolve("runs.json"), "b2").read())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has runs of commit a1, but this is commit b2");
  }

  @Test
  void aTimeLimitIsNotAFault(@TempDir Path directory) throws Exception {
    ChaosFile file = new ChaosFile(directory.resolve("runs.json"), "a1");
    file.add(new Example("bad-key").run());
    assertThat(report(directory, file, "group-by", "cogroup"))
        .contains("did not begin: bad-key cogroup");

    StringWriter nothing = new StringWriter();
    assertThat(new ChaosReport(series(directory, file, "cogroup")).write(new PrintWriter(nothing)))
        .isFalse();
    assertThat(nothing.toString()).contains("no run took place");
  }

  private static String report(Path directory, ChaosFile file, String... workloads)
      throws Exception {
    StringWriter written = new StringWriter();
    assertThat(new ChaosReport(series(directory, file, workloads)).write(new PrintWriter(written)))
        .isTrue();
    return written.toString();
  }

  /**
   * Runs under the fault bad-key without time for new runs: only the runs of the file are there.
   */
  private static ChaosRuns series(Path directory, ChaosFile file, String... workloads)
      throws Exception {
    ChaosRuns runs = new ChaosRuns("soft", directory, file, 10, System.nanoTime());
    Fault fault = Faults.named("bad-key");
    runs.run(
        Stream.of(workloads).map(name -> new Cell(fault, Workload.named(name))).toList(),
        List.of(1L));
    return runs;
  }

  @Test
  void stageRetriesMayExceedThoseOfTheStockShuffleSlightly() {
    Example deleted = new Example("file-deleted").losses(new Losses(5, 5, 0, 0));
    assertThat(deleted.stock(new Losses(2, 2, 0, 0)).run().complaints()).isEmpty();
    assertThat(deleted.stock(new Losses(1, 1, 0, 0)).run().complaints()).hasSize(1);
    assertThat(deleted.stock(null).run().complaints())
        .as("the stock run failed, so there is no limit")
        .isEmpty();
  }

  /**
   * A run of group-by compared with a stock run of 10 s. The fault struck, unless the run has no
   * answer.
   */
  private static final class Example {
    private final String fault;
    private String cause;
    private String workload = "group-by";
    private Outcome outcome = Outcome.ANSWERED;
    private Sums answer = RIGHT;
    private Losses losses = Losses.NONE;
    private Losses stock = new Losses(2, 2, 0, 0);
    private double seconds = 1;
    private List<String> leaks = List.of();
    private Map<String, Long> held = Map.of("threads", 5L);
    private long endMs = 1_000;

    Example(String fault) {
      this.fault = fault;
      this.cause = fault;
    }

    Example cause(String name) {
      cause = name;
      return this;
    }

    Example of(String name) {
      workload = name;
      return this;
    }

    Example ended(Outcome how) {
      outcome = how;
      answer = null;
      return this;
    }

    Example answer(Sums given) {
      answer = given;
      return this;
    }

    Example losses(Losses had) {
      losses = had;
      return this;
    }

    Example stock(Losses had) {
      stock = had;
      return this;
    }

    Example seconds(double taken) {
      seconds = taken;
      return this;
    }

    Example holds(String kind, long count, long atMs) {
      held = Map.of(kind, count);
      endMs = atMs;
      return this;
    }

    Example leak(String leak) {
      leaks = List.of(leak);
      return this;
    }

    ChaosRun run() {
      RunResult result =
          new RunResult(
              new Run("soft", fault, workload, 1),
              cause,
              outcome,
              answer,
              answer == null ? "a reason" : null,
              losses,
              answer != null,
              answer == null ? 0 : 10,
              seconds,
              seconds,
              leaks,
              held,
              endMs);
      return new ChaosRun(result, RIGHT, new Stock(10.0, stock));
    }
  }
}
