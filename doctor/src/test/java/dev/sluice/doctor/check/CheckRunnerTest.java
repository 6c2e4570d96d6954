// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class CheckRunnerTest {
  private record Asked(String name, Callable<Finding> answer) implements Check {
    @Override
    public List<Finding> findings() throws Exception {
      return List.of(answer.call());
    }
  }

  private static Finding refused() throws IOException {
    throw new IOException("refused");
  }

  private static Finding unlinked() {
    throw new UnsatisfiedLinkError("too old");
  }

  private static Finding speechless() {
    throw new IllegalStateException();
  }

  private static Finding ofOneFile() throws IOException {
    throw new NoSuchFileException("/data1");
  }

  private static Finding hung() throws InterruptedException {
    new CountDownLatch(1).await();
    return Finding.ok("hangs", "never");
  }

  @Test
  void noCheckKeepsTheOthersFromBeingAsked() throws Exception {
    List<Finding> findings =
        new CheckRunner(Duration.ofSeconds(2), Duration.ofMinutes(1))
            .of(
                List.of(
                    new Asked("fails", CheckRunnerTest::refused),
                    new Asked("hangs", CheckRunnerTest::hung),
                    new Asked("links", CheckRunnerTest::unlinked),
                    new Asked("last", () -> Finding.ok("last", "asked"))));

    assertThat(findings)
        .extracting(Finding::level)
        .containsExactly(Level.FAIL, Level.FAIL, Level.FAIL, Level.OK);
    assertThat(findings)
        .extracting(Finding::said)
        .satisfiesExactly(
            said -> assertThat(said).isEqualTo("refused"),
            said -> assertThat(said).contains("no answer within"),
            said -> assertThat(said).isEqualTo("too old"),
            said -> assertThat(said).isEqualTo("asked"));
  }

  @Test
  void exceptionsAreReportedWithARemedy() throws Exception {
    List<Finding> findings =
        new CheckRunner()
            .of(
                List.of(
                    new Asked("speechless", CheckRunnerTest::speechless),
                    new Asked("file", CheckRunnerTest::ofOneFile)));

    assertThat(findings.get(0).said()).contains("IllegalStateException");
    assertThat(findings.get(1).said()).contains("NoSuchFile", "/data1");
    assertThat(findings).extracting(Finding::set).doesNotContain("");
  }

  @Test
  void manyThatHangHoldUpAllButOnce() throws Exception {
    Check hanging = new Asked("hangs", CheckRunnerTest::hung);
    List<Finding> findings =
        new CheckRunner(Duration.ofMillis(200), Duration.ofMillis(300))
            .of(List.of(hanging, hanging, hanging, hanging));

    assertThat(findings).hasSize(4).extracting(Finding::level).containsOnly(Level.FAIL);
    assertThat(findings.getFirst().said()).contains("no answer within");
    assertThat(findings.getLast().said()).contains("not checked: the checks before took");
  }
}
