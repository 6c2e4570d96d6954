// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import dev.sluice.blocks.registry.ResolvedOutput;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.Counters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalDirectoriesTest {
  private static final Path FIRST = Path.of("/data/1");
  private static final Path TENTH = Path.of("/data/10");

  private final LocalDirectories directories =
      new LocalDirectories(
          Map.of(
              FIRST,
              RegistrationMethod.READ_ONLY_MAPPING,
              TENTH,
              RegistrationMethod.ON_DEMAND_MAPPING));

  @Test
  void eachDirectoryHasItsOwnForm() throws Exception {
    assertThat(directories.form(FIRST.resolve("0c/shuffle_0_0_0.data"), 0))
        .isEqualTo(RegistrationMethod.READ_ONLY_MAPPING);
    assertThat(directories.form(TENTH.resolve("0c/shuffle_0_0_0.data"), 0))
        .isEqualTo(RegistrationMethod.ON_DEMAND_MAPPING);
  }

  @Test
  void aFileElsewhereHasNone() {
    assertThatThrownBy(() -> directories.form(Path.of("/data/2/0c/shuffle_0_0_0.data"), 0))
        .isInstanceOf(InconsistentFilesException.class)
        .hasMessageContainingAll("/data/2/0c/shuffle_0_0_0.data", "/data/1");
  }

  @Test
  void directoriesAreCountedByForm() {
    Counters<RegistryCounter> counters = new Counters<>(RegistryCounter.class);
    directories.count(counters);

    assertThat(counters.get(RegistryCounter.DIRECTORIES_READ_ONLY)).isEqualTo(1);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_ON_DEMAND)).isEqualTo(1);
  }

  @Test
  void aFailedProbeIsRepeatedWithALaterMapOutput(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("shuffle_0_0_0.data");
    FakeProtectionDomain domain = new FakeProtectionDomain();
    domain.limitBytes(0);
    LocalDirectories probed =
        LocalDirectories.probe(domain, RegistrationMode.AUTO, List.of(directory));
    Counters<RegistryCounter> counters = new Counters<>(RegistryCounter.class);
    probed.count(counters);
    int attemptsAtTheStart = domain.attempts();
    assertUnavailable(probed, file, 0);
    assertThat(domain.attempts())
        .as("the first map output repeats the probe")
        .isGreaterThan(attemptsAtTheStart);

    domain.limitBytes(Long.MAX_VALUE);
    assertUnavailable(probed, file, CircuitBreaker.FIRST_MS - 1);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_READ_ONLY)).isZero();
    assertThat(probed.form(file, CircuitBreaker.FIRST_MS))
        .isEqualTo(RegistrationMethod.READ_ONLY_MAPPING);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_READ_ONLY)).isEqualTo(1);

    int attempts = domain.attempts();
    probed.form(file, 10 * CircuitBreaker.MAX_MS);
    assertThat(domain.attempts()).as("the form is settled").isEqualTo(attempts);
  }

  @ParameterizedTest
  @CsvSource({"AUTO, READ_ONLY_MAPPING", "ODP, ON_DEMAND_MAPPING"})
  void aFailedProbeOfAnyModeIsRepeated(
      RegistrationMode mode, RegistrationMethod form, @TempDir Path directory) throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain();
    domain.limitBytes(0);
    RegistrationProbe probe = new RegistrationProbe(domain, (_, remote) -> domain.read(remote));
    LocalDirectory probed = new LocalDirectory(directory, directory, mode, probe);
    probed.tryOut();
    Counters<RegistryCounter> counters = new Counters<>(RegistryCounter.class);
    probed.countIn(counters);
    assertThatThrownBy(() -> probed.form(0))
        .as("the directory has no other form in the meantime")
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining(directory.toString());

    domain.limitBytes(Long.MAX_VALUE);
    assertThat(probed.form(CircuitBreaker.FIRST_MS)).isEqualTo(form);
    assertThat(counters.get(form.directories())).isEqualTo(1);
  }

  @Test
  void aFormThatTheDeviceRefusesIsNotProbedAgain(@TempDir Path directory) throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain(Kernel.PINS_NO_FILE);
    LocalDirectories probed =
        LocalDirectories.probe(domain, RegistrationMode.AUTO, List.of(directory));
    int attempts = domain.attempts();

    assertUnavailable(probed, directory.resolve("shuffle_0_0_0.data"), 10 * CircuitBreaker.MAX_MS);
    assertThat(domain.attempts()).isEqualTo(attempts);
  }

  @Test
  void aFormThatTheDeviceRefusesAtALaterAttemptIsNotProbedAgain(@TempDir Path parent)
      throws Exception {
    Path directory = Files.createDirectory(parent.resolve("local"));
    Path file = directory.resolve("shuffle_0_0_0.data");
    FakeProtectionDomain domain = new FakeProtectionDomain();
    domain.limitBytes(0);
    LocalDirectories probed =
        LocalDirectories.probe(domain, RegistrationMode.AUTO, List.of(directory));
    Files.delete(directory);
    assertUnavailable(probed, file, 0);

    Files.createDirectory(directory);
    domain.limitBytes(Long.MAX_VALUE);
    assertUnavailable(probed, file, 10 * CircuitBreaker.MAX_MS);
  }

  @Test
  void mapOutputsInADirectoryWithoutAFormAreStaged(@TempDir Path directory) throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(directory);
    outputs.write(3, 7, 10, 20);
    FakeProtectionDomain domain = new FakeProtectionDomain(Kernel.PINS_NO_FILE);
    try (MapOutputRegistry registry =
        new MapOutputRegistry(
            domain,
            LocalDirectories.probe(domain, RegistrationMode.AUTO, List.of(directory)),
            outputs::find,
            new RegistryLimits(1 << 20, 100, 1_000),
            new RecordingListener(),
            () -> 0)) {
      MapOutputHeader location = ResolvedOutput.header(registry, 3, 7);

      assertThat(location.isStaged()).isTrue();
      assertThat(location.data().length()).isEqualTo(30);
      assertThat(registry.counters().get(RegistryCounter.STAGED_OUTPUTS)).isEqualTo(1);
      assertThat(registry.counters().get(RegistryCounter.REJECTIONS)).isZero();
    }
  }

  private static void assertUnavailable(LocalDirectories directories, Path file, long nowMs) {
    assertThatThrownBy(() -> directories.form(file, nowMs))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining(file.getParent().toString());
  }
}
