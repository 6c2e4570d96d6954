// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.rdma.log.LogCapture;
import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RegistrationProbeTest {
  @TempDir Path directory;

  private RegistrationMethod form(Kernel kernel, RegistrationMode mode) throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain(kernel);
    return form(domain, (_, remote) -> domain.read(remote), mode);
  }

  private RegistrationMethod form(
      FakeProtectionDomain domain, RegistrationProbe.Reader reader, RegistrationMode mode)
      throws Exception {
    try {
      return new RegistrationProbe(domain, reader).form(mode, directory).form();
    } finally {
      assertThat(directory).isEmptyDirectory();
      assertThat(domain.openRegions()).isZero();
      assertThat(new TestMapOutputs(directory).mappings()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PINS_FOR_WRITING, AUTO,",
    "PINS_FOR_READING, AUTO, READ_ONLY_MAPPING",
    "PAGES_ON_DEMAND, AUTO, READ_ONLY_MAPPING",
    "PAGES_ON_DEMAND, ODP, ON_DEMAND_MAPPING",
    "PINS_NO_FILE, AUTO,"
  })
  void theFormOfTheModeIsChosenIfItWorks(
      Kernel kernel, RegistrationMode mode, RegistrationMethod form) throws Exception {
    assertThat(form(kernel, mode)).isEqualTo(form);
  }

  @ParameterizedTest
  @CsvSource({"AUTO, OPEN_FILE", "ODP, ON_DEMAND_MAPPING"})
  void byDefaultNothingIsMappedIfTheDeviceSendsFiles(RegistrationMode mode, RegistrationMethod form)
      throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain();
    domain.sendFiles();
    assertThat(form(domain, (_, remote) -> domain.read(remote), mode)).isEqualTo(form);
    assertThat(new TestMapOutputs(directory).openFiles()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "PINS_NO_FILE, ODP, errno 95",
    "PINS_FOR_WRITING, ODP, errno 22",
    "PINS_FOR_READING, ODP, errno 95"
  })
  void aRequestedModeThatDoesNotWorkIsReported(
      Kernel kernel, RegistrationMode mode, String reason) {
    assertThatThrownBy(() -> form(kernel, mode))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContainingAll(
            "spark.shuffle.rdma.registration.mode is \"" + mode + "\"",
            directory.toString(),
            reason);
  }

  @Test
  void pagesThatTheDeviceReadsWrongAreNotRegisteredOnDemand() {
    FakeProtectionDomain domain = new FakeProtectionDomain();
    RegistrationProbe.Reader fromThePagesBeginning =
        (_, remote) -> domain.read(remote, -(remote.address() % 4096), (int) remote.length());

    assertThatThrownBy(() -> form(domain, fromThePagesBeginning, RegistrationMode.ODP))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining("a READ returned other bytes than the file has");
  }

  @Test
  void theFormIsLoggedOrWhyItDoesNotWork() throws Exception {
    try (LogCapture log = new LogCapture(RegistrationProbe.class, Level.INFO)) {
      form(Kernel.PINS_FOR_READING, RegistrationMode.AUTO);
      form(Kernel.PINS_FOR_WRITING, RegistrationMode.AUTO);

      assertThat(log.messages()).hasSize(2);
      assertThat(log.messages().getFirst())
          .isEqualTo(
              "Map outputs in "
                  + directory
                  + " are registered as read-only mappings (registration.mode is \"auto\")");
      assertThat(log.messages().getLast())
          .startsWith(
              "Map outputs in "
                  + directory
                  + " are not registered but staged (registration.mode is \"auto\"): ")
          .contains("read-only mappings do not work there", "errno 14");
    }
  }

  /** A name that is too long stands for a full disk: Java has no exception type for either. */
  @ParameterizedTest
  @EnumSource
  void aDirectoryThatTakesNoFileAtTheMomentIsReportedAsRetried(RegistrationMode mode)
      throws Exception {
    Path full = directory.resolve("x".repeat(300));
    RegistrationProbe probe =
        new RegistrationProbe(new FakeProtectionDomain(), (_, _) -> new byte[0]);
    try (LogCapture log = new LogCapture(RegistrationProbe.class, Level.INFO)) {
      assertThat(probe.form(mode, full)).isEqualTo(new RegistrationProbe.Result(null, false));
      assertThat(log.messages()).hasSize(1);
      assertThat(log.messages().getFirst())
          .contains(
              "staged until registering can be tried again",
              "\"" + mode + "\"",
              "File name too long");
    }
  }

  @Test
  void whereNothingCanBeTriedOutMapOutputsAreStaged() throws Exception {
    Path missing = directory.resolve("missing");
    RegistrationProbe probe =
        new RegistrationProbe(new FakeProtectionDomain(), (_, _) -> new byte[0]);

    assertThat(probe.form(RegistrationMode.AUTO, missing))
        .isEqualTo(new RegistrationProbe.Result(null, true));
    assertThatThrownBy(() -> probe.form(RegistrationMode.ODP, missing))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining("NoSuchFileException");
  }
}
