package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.verbs.LockedMemory.Exemption;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockedMemoryTest {
  @TempDir Path process;

  @ParameterizedTest
  @CsvSource({
    "8388608,   0000000000000000, 0000000000000000, memlock 8192 KiB",
    "8388608,   0000000000004000, 0000000000004000, memlock 8192 KiB (exempt by CAP_IPC_LOCK)",
    "8388608,   0000000000000000, 00000000a80465fb,"
        + " 'memlock 8192 KiB (CAP_IPC_LOCK is in the bounding set only, which exempts nobody)'",
    "unlimited, 000001ffffffbfff, 000001ffffffbfff, memlock unlimited"
  })
  void saysWhatTheKernelSays(String limit, String effective, String bounding, String text)
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
    saysWhatTheKernelSays("8388608", "4000", "4000", "memlock 8192 KiB (exempt by CAP_IPC_LOCK)");
    Files.writeString(process.resolve("uid_map"), "         0          0 4294967295\n");
    assertThat(LockedMemory.read(process).allows(9 << 20)).isTrue();
    Files.writeString(process.resolve("uid_map"), "         0     100000      65536\n");
    assertThat(LockedMemory.read(process).allows(9 << 20)).isFalse();
    assertThat(LockedMemory.read(process).toString()).contains("is a user namespace's");
  }

  @Test
  void lessThanIsNeededIsRefusedWithWhatToDo() {
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
