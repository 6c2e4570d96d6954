// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

  private RegistrationMethod bestForm(Kernel kernel, RegistrationMode mode) throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain(kernel);
    return bestForm(domain, (_, remote) -> domain.read(remote), mode);
  }

  private RegistrationMethod bestForm(
      FakeProtectionDomain domain, RegistrationProbe.Reader reader, RegistrationMode mode)
      throws Exception {
    try {
      return new RegistrationProbe(domain, reader).bestForm(mode, directory).form();
    } finally {
      assertThat(directory).isEmptyDirectory();
      assertThat(domain.openRegions()).isZero();
      assertThat(new TestMapOutputs(directory).mappings()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PINS_FOR_WRITING, AUTO,",
    "PINS_FOR_WRITING, FILE, READ_WRITE_MAPPING",
    "PINS_FOR_READING, AUTO, READ_ONLY_MAPPING",
    "PINS_FOR_READING, FILE, READ_ONLY_MAPPING",
    "PAGES_ON_DEMAND, AUTO, READ_ONLY_MAPPING",
    "PAGES_ON_DEMAND, ODP, ON_DEMAND_MAPPING",
    "PINS_NO_FILE, AUTO,"
  })
  void theBestFormThatWorksIsChosenOrNone(
      Kernel kernel, RegistrationMode mode, RegistrationMethod form) throws Exception {
    assertThat(bestForm(kernel, mode)).isEqualTo(form);
  }

  @ParameterizedTest
  @CsvSource({"AUTO, OPEN_FILE", "FILE, OPEN_FILE", "ODP, ON_DEMAND_MAPPING"})
  void byDefaultNothingIsMappedIfTheDeviceSendsFiles(RegistrationMode mode, RegistrationMethod form)
      throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain();
    domain.sendFiles();
    assertThat(bestForm(domain, (_, remote) -> domain.read(remote), mode)).isEqualTo(form);
    assertThat(new TestMapOutputs(directory).openFiles()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "PINS_NO_FILE, FILE, errno 95",
    "PINS_FOR_WRITING, ODP, errno 22",
    "PINS_FOR_READING, ODP, errno 95"
  })
  void aRequestedModeThatDoesNotWorkIsReported(
      Kernel kernel, RegistrationMode mode, String reason) {
    assertThatThrownBy(() -> bestForm(kernel, mode))
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

    assertThatThrownBy(() -> bestForm(domain, fromThePagesBeginning, RegistrationMode.ODP))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining("a READ returned other bytes than the file has");
  }

  @Test
  void theFormIsLoggedWithWhyItIsNotABetterOne() throws Exception {
    try (LogCapture log = new LogCapture(RegistrationProbe.class, Level.INFO)) {
      bestForm(Kernel.PINS_FOR_READING, RegistrationMode.AUTO);
      bestForm(Kernel.PINS_FOR_WRITING, RegistrationMode.AUTO);

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
      assertThat(probe.bestForm(mode, full)).isEqualTo(new RegistrationProbe.Result(null, false));
      assertThat(log.messages()).hasSize(1);
      assertThat(log.messages().getFirst())
          .contains(
              "staged until registering can be tried again",
              "\"" + mode + "\"",
              "File name too long");
    }
  }

  @Test
  void aFormThatCanBeTriedOutServesUntilABetterOneCan() throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain();
    domain.limitBytes(0);
    domain.whenRefusing(() -> domain.limitBytes(Long.MAX_VALUE));
    RegistrationProbe probe = new RegistrationProbe(domain, (_, _) -> new byte[0]);
    try (LogCapture log = new LogCapture(RegistrationProbe.class, Level.INFO)) {
      assertThat(probe.bestForm(RegistrationMode.FILE, directory))
          .isEqualTo(new RegistrationProbe.Result(RegistrationMethod.READ_WRITE_MAPPING, false));
      assertThat(log.messages().getFirst()).contains("until better forms can be tried");
    }
  }

  @Test
  void whereNothingCanBeTriedOutMapOutputsAreStaged() throws Exception {
    Path missing = directory.resolve("missing");
    RegistrationProbe probe =
        new RegistrationProbe(new FakeProtectionDomain(), (_, _) -> new byte[0]);

    assertThat(probe.bestForm(RegistrationMode.AUTO, missing))
        .isEqualTo(new RegistrationProbe.Result(null, true));
    assertThatThrownBy(() -> probe.bestForm(RegistrationMode.FILE, missing))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining("NoSuchFileException");
  }
}
