// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecutorsTest {
  @Test
  void executorsAreKnownByTheirCommandLine() {
    assertThat(Executors.id(List.of("java", "Backend", "--executor-id", "1", "--cores")))
        .contains("1");
    assertThat(Executors.id(List.of("java", "Other"))).isEmpty();
    assertThat(Executors.id(List.of("java", "--executor-id"))).isEmpty();
  }

  @Test
  void timesAreFoundOfChildrenThatAreExecutors() throws Exception {
    Process executor = start("--executor-id");
    Process other = start("--other");
    try {
      assertThat(executor.getInputStream().read()).isEqualTo('r');
      assertThat(other.getInputStream().read()).isEqualTo('r');
      assertThat(Executors.cpuSeconds()).containsOnlyKeys("17");
    } finally {
      executor.destroyForcibly().waitFor();
      other.destroyForcibly().waitFor();
    }
  }

  @Test
  void usedCpuTimeIsTheDifference() {
    assertThat(Executors.used(Map.of("0", 1.0, "1", 2.0), Map.of("0", 1.5, "1", 5.0)))
        .isEqualTo(Map.of("0", 0.5, "1", 3.0));
  }

  @Test
  void aProcessThatHasEndedReadsNothing(@TempDir Path proc) throws Exception {
    Path account = proc.resolve("io");
    Files.writeString(account, "rchar: 9\nread_bytes: 4096\nwrite_bytes: 7\n");
    assertThat(Executors.diskBytes(account)).isEqualTo(4096);
    assertThat(Executors.diskBytes(proc.resolve("ended"))).isZero();
  }

  /** Says that it runs, and waits to be destroyed. */
  private static Process start(String option) throws Exception {
    return new ProcessBuilder("sh", "-c", "echo r; read wait", "sh", option, "17").start();
  }
}
