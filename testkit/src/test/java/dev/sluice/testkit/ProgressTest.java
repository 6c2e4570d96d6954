// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private static final String ERASE = "\r\033[K";

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final ScriptedClock clock = new ScriptedClock();

  @Test
  void aLogHasLinesOnly() {
    Progress progress = progress(0);
    progress.expect(2);
    progress.begin("round 1 of 2");
    progress.line("it took 3 s");
    progress.beginQuietly("round 2 of 2");
    progress.clear();
    assertThat(printed()).isEqualTo("round 1 of 2\nit took 3 s\n");
  }

  @Test
  void aTerminalHasABarBelowTheLines() {
    Progress progress = progress(80);
    progress.expect(4);
    progress.begin("round 1");
    assertThat(printed()).isEqualTo(ERASE + "[--------------------] 0/4 round 1");
    progress.line("it took 3 s");
    assertThat(printed()).isEqualTo(ERASE + "it took 3 s\n[--------------------] 0/4 round 1");
  }

  @Test
  void theEndIsExpectedAsTheStepsSoFarTellIt() {
    Progress progress = progress(80);
    progress.expect(4);
    progress.begin("round 1");
    printed();
    clock.now = clock.now.plus(Duration.ofMinutes(10));
    progress.begin("round 2");
    assertThat(printed()).isEqualTo(ERASE + "[#####---------------] 1/4 round 2, ends about 12:40");
    clock.now = clock.now.plus(Duration.ofHours(20));
    progress.begin("round 3");
    assertThat(printed()).endsWith("2/4 round 3, ends about Thu 04:20");
  }

  @Test
  void knownDurationsTellTheEndFromTheBeginning() {
    Progress progress = progress(80);
    progress.expect(List.of(Duration.ofMinutes(10), Duration.ofMinutes(25), Duration.ofMinutes(5)));
    progress.begin("short");
    assertThat(printed()).isEqualTo(ERASE + "[--------------------] 0/3 short, ends about 12:40");
    clock.now = clock.now.plus(Duration.ofMinutes(20)); // twice as long as it should
    progress.begin("long");
    assertThat(printed()).isEqualTo(ERASE + "[#####---------------] 1/3 long, ends about 13:20");
    clock.now = clock.now.plus(Duration.ofMinutes(50));
    progress.begin("last");
    assertThat(printed()).isEqualTo(ERASE + "[#################---] 2/3 last, ends about 13:20");
  }

  @Test
  void anotherPrinterPrintsAboveTheBar() {
    Progress progress = progress(80);
    progress.expect(2);
    progress.begin("part");
    String bar = printed();
    progress.above(() -> new PrintStream(printed, true, UTF_8).println("a result"));
    assertThat(printed()).isEqualTo(ERASE + "a result\n" + bar.substring(ERASE.length()));
  }

  @Test
  void theBarIsRemovedBeforeResults() {
    Progress progress = progress(80);
    progress.begin("round 1");
    printed();
    progress.clear();
    progress.line("result");
    assertThat(printed()).isEqualTo(ERASE + "result\n");
  }

  @Test
  void aBarFitsTheTerminal() {
    progress(30).begin("a step with a long name");
    assertThat(printed().substring(ERASE.length())).hasSize(29);
  }

  private Progress progress(int columns) {
    return new Progress(new PrintStream(printed, true, UTF_8), columns, clock);
  }

  /** Returns the text since the last call. */
  private String printed() {
    String text = printed.toString(UTF_8);
    printed.reset();
    return text;
  }

  private static final class ScriptedClock extends Clock {
    private Instant now = Instant.parse("2030-01-01T12:00:00Z");

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Instant instant() {
      return now;
    }
  }
}
