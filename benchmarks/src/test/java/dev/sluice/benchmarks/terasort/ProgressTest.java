package dev.sluice.benchmarks.terasort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  @Test
  void withoutATerminalAQuarterIsALine() {
    run(new Progress(out, false, "sluice 1/3"), 8);
    assertThat(text().lines())
        .containsExactly(
            "sluice 1/3: 0/8 tasks",
            "sluice 1/3: 2/8 tasks",
            "sluice 1/3: 4/8 tasks",
            "sluice 1/3: 6/8 tasks",
            "sluice 1/3: 8/8 tasks");
  }

  @Test
  void onATerminalOneLineIsRedrawnAndRemoved() {
    run(new Progress(out, true, "stock 2/3"), 2);
    assertThat(text())
        .doesNotContain("\n")
        .contains("[" + "#".repeat(20) + ".".repeat(20) + "] 1/2 tasks")
        .endsWith("\r\033[K");
  }

  private String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static void run(Progress progress, int tasks) {
    progress.start(tasks);
    for (int i = 0; i < tasks; i++) {
      progress.taskDone();
    }
    progress.end();
  }
}
