package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class CheckupTest {
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

  private static Finding hung() throws InterruptedException {
    new CountDownLatch(1).await();
    return Finding.ok("hangs", "never");
  }

  @Test
  void noCheckKeepsTheOthersFromBeingAsked() throws Exception {
    List<Finding> findings =
        new Checkup(Duration.ofMillis(200))
            .of(
                List.of(
                    new Asked("fails", CheckupTest::refused),
                    new Asked("hangs", CheckupTest::hung),
                    new Asked("links", CheckupTest::unlinked),
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
}
