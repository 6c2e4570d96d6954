// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.rdma.verbs.LockedMemory.Exemption;
import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockedMemoryTest {
  @TempDir Path process;

  @ParameterizedTest
  @CsvSource({
    "8388608,   0000000000000000, 0000000000000000, memlock 8192 KiB",
    "8388608,   0000000000004000, 0000000000004000, memlock 8192 KiB (exempt by CAP_IPC_LOCK)",
    "8388608,   0000000000000000, 00000000a80465fb,"
        + " 'memlock 8192 KiB (CAP_IPC_LOCK is in the bounding set only, which does not"
        + " exempt this process)'",
    "unlimited, 000001ffffffbfff, 000001ffffffbfff, memlock unlimited"
  })
  void reportsTheKernelsLimit(String limit, String effective, String bounding, String text)
      throws Exception {
    Files.writeString(
        process.resolve("limits"),
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             61440                61440                processes
        Max locked memory         %-20s unlimited            bytes
        """
            .formatted(limit));
    Files.writeString(
        process.resolve("status"),
        "Name:\tjava\nCapEff:\t" + effective + "\nCapBnd:\t" + bounding + "\n");
    assertThat(LockedMemory.read(process)).hasToString(text);
  }

  @Test
  void aUserNamespacesCapabilityIsNotTheHosts() throws Exception {
    reportsTheKernelsLimit("8388608", "4000", "4000", "memlock 8192 KiB (exempt by CAP_IPC_LOCK)");
    Path namespace = Files.createDirectory(process.resolve("ns")).resolve("user");
    Files.createSymbolicLink(namespace, Path.of("user:[4026531837]"));
    assertThat(LockedMemory.read(process).allows(9 << 20)).isTrue();
    Files.delete(namespace);
    Files.createSymbolicLink(namespace, Path.of("user:[4026532177]"));
    assertThat(LockedMemory.read(process).allows(9 << 20)).isFalse();
    assertThat(LockedMemory.read(process).toString())
        .contains("is valid in a user namespace only, which does not exempt this process");
  }

  /** Covers a namespace that maps all user ids to themselves, as the first one does. */
  @ParameterizedTest
  @ValueSource(strings = {"0 0 1", "0 0 4294967295"})
  void theKernelsUserNamespacesAreKnown(String map) throws Exception {
    // Root gets its capabilities by an exec after its ids are mapped.
    String script = "echo; read _; exec sh -c 'echo; read _'";
    Process child = new ProcessBuilder("unshare", "-U", "sh", "-c", script).start();
    try {
      assumeTrue(child.inputReader().readLine() != null, "user namespaces are forbidden here");
      Path process = Path.of("/proc/" + child.pid());
      try {
        Files.writeString(process.resolve("uid_map"), map);
      } catch (IOException e) {
        abort("this user may not map it: " + e.getMessage());
      }
      child.outputWriter().append('\n').flush();
      assertThat(child.inputReader().readLine()).isEmpty();
      assertThat(LockedMemory.read(process).exemption()).isEqualTo(Exemption.USER_NAMESPACE);
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  @Test
  void tooLowALimitIsRefusedWithTheRemedy() {
    LockedMemory small = new LockedMemory(8 << 20, Exemption.BOUNDING_SET_ONLY);
    assertThatThrownBy(() -> small.require(9 << 20))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContainingAll("memlock 8192 KiB", "9216 KiB", "ulimit -l");
    assertThatCode(() -> small.require(8 << 20)).doesNotThrowAnyException();
    assertThatCode(() -> new LockedMemory(0, Exemption.EFFECTIVE).require(1))
        .doesNotThrowAnyException();
  }

  @Test
  void readsThatOfThisProcess() {
    assertThat(LockedMemory.current().bytes()).isPositive();
  }
}
