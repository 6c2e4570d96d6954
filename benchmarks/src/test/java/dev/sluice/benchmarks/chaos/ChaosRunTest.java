package dev.sluice.benchmarks.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.chaos.workload.Answer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChaosRunTest {
  private static final Answer RIGHT = new Answer(3, 77);

  @Test
  void aRunThatEqualsTheStockShufflesIsWithoutComplaint() {
    assertThat(run("bad-key", RIGHT, null, false, 0, 9, null, List.of()).complaints()).isEmpty();
  }

  @Test
  void everythingThatIsWrongIsSaid() {
    assertThat(run("bad-key", new Answer(3, 78), null, false, 0, 1, null, List.of()).complaints())
        .singleElement()
        .asString()
        .startsWith("WRONG ANSWER");
    assertThat(run("bad-key", null, "it took too long", true, 0, 1, null, List.of()).complaints())
        .containsExactly("HANG: it took too long");
    assertThat(run("bad-key", null, "no", false, 0, 1, null, List.of()).complaints())
        .containsExactly("FAILED: no");
    assertThat(run("bad-key", RIGHT, null, false, 0, 1, null, List.of("a region")).complaints())
        .containsExactly("LEAK: a region");
  }

  @Test
  void aStageMayBeRunAgainForWhatTheStockShuffleSuffersTooOnly() {
    assertThat(run("bad-key", RIGHT, null, false, 1, 1, null, List.of()).complaints())
        .containsExactly("UNEXPECTED: 1 stages were run again");
    assertThat(run("killed-in-read", RIGHT, null, false, 2, 1, 1.0, List.of()).complaints())
        .isEmpty();
  }

  @Test
  void twiceTheStockShufflesTimeIsAllowedAndSomeSlack() {
    assertThat(run("stopped-5s", RIGHT, null, false, 0, 35, 10.0, List.of()).isLate()).isFalse();
    assertThat(run("stopped-5s", RIGHT, null, false, 0, 45, 10.0, List.of()).complaints())
        .containsExactly("LATE: 45.0 s, stock 10.0 s");
  }

  @Test
  void theTableCountsByFaultAndWorkload() {
    String table =
        ChaosTable.of(
            List.of(
                run("bad-key", RIGHT, null, false, 0, 1, null, List.of()),
                run("bad-key", Answer.NOTHING, null, false, 0, 3, null, List.of()),
                run("stopped-5s", null, "no", true, 0, 5, 4.0, List.of())));
    assertThat(table.lines().map(line -> line.replaceAll(" +", " ")))
        .contains(
            "| bad-key | group-by | 2 | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 2.0 | 3.0 | |",
            "| stopped-5s | group-by | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | | | 4.0 |",
            "| all | | 3 | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 2.0 | 3.0 | |");
  }

  @Test
  void aFaultThatStruckInNoRunIsNamed() {
    assertThat(
            ChaosTable.neverStruck(
                List.of(
                    run("bad-key", RIGHT, null, false, 0, 1, null, List.of()),
                    run("bad-key", null, "no", false, 0, 1, null, List.of()),
                    run("corrupt", null, "no", false, 0, 1, null, List.of()))))
        .containsExactly("corrupt group-by");
  }

  @Test
  void runsComeBackFromTheirFile(@TempDir Path directory) throws IOException {
    ChaosFile file = new ChaosFile(directory.resolve("runs.json"));
    assertThat(file.read()).isEmpty();
    ChaosRun first = run("bad-key", RIGHT, null, false, 0, 1, 2.0, List.of("a region"));
    ChaosRun second = run("corrupt", null, "no", false, 0, 1, null, List.of());
    file.add(first);
    file.add(second);
    assertThat(file.read()).containsExactly(first, second);
  }

  private static ChaosRun run(
      String fault,
      Answer answer,
      String problem,
      boolean hang,
      int stageRetries,
      double seconds,
      Double stockSeconds,
      List<String> leaks) {
    return new ChaosRun(
        new RunResult(
            fault,
            "group-by",
            1,
            answer,
            problem,
            hang,
            stageRetries,
            0,
            0,
            0,
            answer != null,
            seconds,
            seconds,
            leaks,
            Map.of("threads", 5L),
            1_000),
        RIGHT,
        stockSeconds);
  }
}
