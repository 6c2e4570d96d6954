// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.verbs.LockedMemory;
import dev.sluice.rdma.verbs.LockedMemory.Exemption;
import dev.sluice.verbs.ProviderUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeMemoryTest {
  private static final long MIB = 1 << 20;
  private static final NodeOptions OPTIONS =
      options(
          Map.of(
              "sluice.node.registration.maxBytes", "8g",
              "sluice.node.maxApplications", "4"));

  private static final MachineMemory MACHINE = new MachineMemory(64L << 30, 32L << 30);

  @TempDir Path directory;

  private static NodeOptions options(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("sluice.node.directories", "/data1");
    return NodeOptions.of(settings);
  }

  private static LockedMemory limit(long bytes) {
    return new LockedMemory(bytes, Exemption.NONE);
  }

  @Test
  void anApplicationHasItsPart() {
    assertThat(NodeMemory.configured(OPTIONS, MACHINE))
        .isEqualTo(new NodeMemory(2048 * MIB, 64 * MIB, 4));
  }

  private long registrationBytes(long limitBytes, String meminfo) throws Exception {
    Path file = Files.writeString(directory.resolve("meminfo"), meminfo);
    NodeOptions options = options(Map.of("sluice.node.maxApplications", "1"));
    MachineMemory machine = MachineMemory.read(file, limitBytes);
    return NodeMemory.configured(options, machine).registrationBytes();
  }

  private static String meminfo(long freeMib, long availableMib) {
    return """
        MemTotal:       263842980 kB
        MemFree:        %d kB
        MemAvailable:   %d kB
        Buffers:          812712 kB
        """
        .formatted(freeMib << 10, availableMib << 10);
  }

  /** The rest was promised to containers that YARN or Kubernetes starts later. */
  @Test
  void byDefaultAQuarterOfTheFreeMemoryIsRegistered() throws Exception {
    assertThat(registrationBytes(256L << 30, meminfo(100, 8_000))).isEqualTo(2_000 * MIB);
    assertThat(registrationBytes(256L << 30, meminfo(100, 0))).isZero();
  }

  @Test
  void whereNothingIsConfiguredFourGibibytesAreRegisteredAtMost() throws Exception {
    assertThat(registrationBytes(256L << 30, meminfo(100, 200_000))).isEqualTo(4_096 * MIB);
  }

  @Test
  void theLimitOfTheControlGroupBoundsIt() throws Exception {
    assertThat(registrationBytes(2L << 30, meminfo(100, 200_000))).isEqualTo(512 * MIB);
  }

  @Test
  void theDefaultHasALimitIfTheKernelDoesNotTellFreeMemory() throws Exception {
    assertThat(registrationBytes(2L << 30, "MemTotal: 1 kB")).isEqualTo(512 * MIB);
    assertThat(MachineMemory.read(directory.resolve("none"), 2L << 30))
        .isEqualTo(new MachineMemory(2L << 30, 2L << 30));
  }

  @Test
  void thisMachineHasMemory() {
    MachineMemory current = MachineMemory.current();
    assertThat(current.limitBytes()).isPositive();
    assertThat(current.availableBytes()).isPositive();
    assertThat(current.defaultRegistrationBytes()).isBetween(1L, 4_096 * MIB);
  }

  @Test
  void theLimitOfLockedMemoryBoundsTheDefault() throws Exception {
    NodeOptions options = options(Map.of("sluice.node.maxApplications", "4"));
    assertThat(NodeMemory.within(limit(1L << 30), options, MACHINE))
        .isEqualTo(new NodeMemory((256 - 64 - 8) * MIB, 64 * MIB, 4));
    assertThat(NodeMemory.within(limit(Long.MAX_VALUE), options, MACHINE))
        .isEqualTo(new NodeMemory(1_024 * MIB, 64 * MIB, 4));
  }

  @Test
  void aSufficientLimitOfLockedMemoryChangesNothing() throws Exception {
    for (LockedMemory locked :
        new LockedMemory[] {
          limit(9L << 30), limit(Long.MAX_VALUE), new LockedMemory(0, Exemption.EFFECTIVE)
        }) {
      assertThat(NodeMemory.within(locked, OPTIONS, MACHINE))
          .isEqualTo(NodeMemory.configured(OPTIONS, MACHINE));
    }
  }

  /** 1,024 accepted queue pairs take 8 MiB, not 64 KiB each for a send queue. */
  @Test
  void aLowerLimitOfLockedMemoryIsUsed() throws Exception {
    assertThat(NodeMemory.within(limit(1L << 30), OPTIONS, MACHINE))
        .isEqualTo(new NodeMemory((256 - 64 - 8) * MIB, 64 * MIB, 4));
    assertThat(NodeMemory.within(limit(64 * MIB), OPTIONS, MACHINE))
        .isEqualTo(new NodeMemory((16 - 4 - 4) * MIB, 4 * MIB, 4));
    assertThat(NodeMemory.within(limit(8 * MIB), OPTIONS, MACHINE))
        .as("too little for all applications at once")
        .isEqualTo(new NodeMemory(0, 4 * MIB, 4));
  }

  @Test
  void tooLittleForOneApplicationMeansNoMemory() {
    assertThatThrownBy(() -> NodeMemory.within(limit(64 << 10), OPTIONS, MACHINE))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContainingAll(
            "memlock 64 KiB", "one application needs at least 8192 KiB", "LimitMEMLOCK");
  }
}
