// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.yarn.RegisteredMemory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon's share of the memory of a machine with 64 GiB. */
final class RegisteredMemoryTest {
  private static final String CONTAINERS = "yarn.nodemanager.resource.memory-mb";

  @TempDir private Path directory;

  private final Configuration conf = new Configuration(false);
  private Path meminfo;

  @BeforeEach
  void write() throws Exception {
    meminfo = directory.resolve("meminfo");
    Files.writeString(
        meminfo,
        """
        MemTotal:       67108864 kB
        MemFree:         1234567 kB
        MemAvailable:   50000000 kB
        """);
  }

  private Optional<String> setting(String... daemon) {
    Properties said = new Properties();
    for (int i = 0; i < daemon.length; i += 2) {
      said.put(daemon[i], daemon[i + 1]);
    }
    return new RegisteredMemory(meminfo).setting(conf, said);
  }

  @Test
  void halfOfTheMemoryNotPromisedToContainersIsRegisteredUpTo4Gib() {
    Map<String, String> expected =
        Map.of("60000", "2768m", "8192", "4096m", "65024", "256m", "57344", "4096m");
    expected.forEach(
        (containers, registered) -> {
          conf.set(CONTAINERS, containers);
          assertThat(setting()).contains("sluice.node.registration.maxBytes=" + registered);
        });
  }

  @Test
  void yarnsDefaultForContainersIs8Gib() throws Exception {
    assertThat(setting()).contains("sluice.node.registration.maxBytes=4096m");
    conf.set(CONTAINERS, "-1");
    Files.writeString(meminfo, "MemTotal:       9437184 kB\n");
    assertThat(setting()).contains("sluice.node.registration.maxBytes=512m");
  }

  @Test
  void theDaemonsDefaultHoldsWhereContainersLeaveTooLittle() {
    conf.set(CONTAINERS, "65100");
    assertThat(setting()).isEmpty();
    assertThat(setting("sluice.node.provider", "auto")).isEmpty();
    assertThat(setting("sluice.node.provider", "verbs")).isEmpty();
    conf.set(CONTAINERS, "70000");
    assertThat(setting()).isEmpty();
  }

  @Test
  void theDaemonsFileComesFirst() {
    assertThat(setting("sluice.node.registration.maxBytes", "1g")).isEmpty();
    assertThat(setting("sluice.node.provider", "soft")).isEmpty();
  }

  @Test
  void theDaemonsDefaultHoldsWhereYarnLooksAtTheHardware() {
    conf.set("yarn.nodemanager.resource.detect-hardware-capabilities", "true");
    assertThat(setting()).isEmpty();
    conf.set(CONTAINERS, "8192");
    assertThat(setting()).isPresent();
  }

  @Test
  void theDaemonsDefaultHoldsWhereTheMachinesMemoryIsNotKnown() throws Exception {
    Files.writeString(meminfo, "");
    assertThat(setting()).isEmpty();
    Files.delete(meminfo);
    assertThat(setting()).isEmpty();
  }
}
