package dev.sluice.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalDirectoriesTest {
  @TempDir Path directory;

  private LocalDirectories probe(Kernel kernel, RegistrationMode mode) throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain(kernel);
    try {
      return LocalDirectories.probe(domain, mode, List.of(directory));
    } finally {
      assertThat(directory).isEmptyDirectory();
      assertThat(domain.openRegions()).isZero();
      assertThat(new TestMapOutputs(directory).mappings()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PINS_FOR_WRITING, AUTO, READ_WRITE_MAPPING",
    "PINS_FOR_WRITING, FILE, READ_WRITE_MAPPING",
    "PINS_FOR_WRITING, COPY, COPY",
    "PINS_FOR_READING, AUTO, READ_ONLY_MAPPING",
    "PINS_FOR_READING, FILE, READ_ONLY_MAPPING",
    "PINS_FOR_READING, COPY, COPY",
    "PAGES_ON_DEMAND, AUTO, READ_ONLY_MAPPING",
    "PAGES_ON_DEMAND, ODP, ON_DEMAND_MAPPING",
    "PINS_NO_FILE, AUTO, COPY",
    "PINS_NO_FILE, COPY, COPY"
  })
  void theBestFormThatWorksIsChosen(Kernel kernel, RegistrationMode mode, RegistrationForm form)
      throws Exception {
    assertThat(probe(kernel, mode).form(directory.resolve("0c/shuffle_0_0_0.data")))
        .isEqualTo(form);
  }

  @ParameterizedTest
  @CsvSource({
    "PINS_NO_FILE, FILE, errno 95",
    "PINS_FOR_WRITING, ODP, errno 22",
    "PINS_FOR_READING, ODP, errno 95"
  })
  void whatIsAskedForAndDoesNotWorkIsSaid(Kernel kernel, RegistrationMode mode, String reason) {
    assertThatThrownBy(() -> probe(kernel, mode))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContainingAll(
            "spark.shuffle.rdma.registration.mode is \"" + mode + "\"",
            directory.toString(),
            reason);
  }

  @Test
  void eachDirectorysFormIsLoggedWithTheReason() throws Exception {
    try (LogCapture log = new LogCapture(LocalDirectories.class, Level.INFO)) {
      probe(Kernel.PINS_FOR_READING, RegistrationMode.AUTO);
      probe(Kernel.PINS_FOR_WRITING, RegistrationMode.AUTO);

      assertThat(log.messages()).hasSize(2);
      assertThat(log.messages().getFirst())
          .isEqualTo(
              "Map outputs in "
                  + directory
                  + " are registered as read-only mappings (registration.mode is \"auto\")");
      assertThat(log.messages().getLast())
          .startsWith("Map outputs in " + directory + " are registered as read-write mappings")
          .contains("read-only mappings cannot be registered there", "errno 14");
    }
  }

  @Test
  void whatCannotBeTriedOutIsCopied() throws Exception {
    Path missing = directory.resolve("missing");
    FakeProtectionDomain domain = new FakeProtectionDomain();

    assertThat(
            LocalDirectories.probe(domain, RegistrationMode.AUTO, List.of(missing))
                .form(missing.resolve("data")))
        .isEqualTo(RegistrationForm.COPY);
    assertThatThrownBy(
            () -> LocalDirectories.probe(domain, RegistrationMode.FILE, List.of(missing)))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining("NoSuchFileException");
  }

  @Test
  void eachDirectoryHasItsOwnForm() throws Exception {
    Path first = Path.of("/data/1");
    Path tenth = Path.of("/data/10");
    LocalDirectories directories =
        new LocalDirectories(
            Map.of(first, RegistrationForm.READ_ONLY_MAPPING, tenth, RegistrationForm.COPY));
    RegistryCounters counters = new RegistryCounters();
    directories.count(counters);

    assertThat(directories.form(first.resolve("00/data")))
        .isEqualTo(RegistrationForm.READ_ONLY_MAPPING);
    assertThat(directories.form(tenth.resolve("00/data"))).isEqualTo(RegistrationForm.COPY);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_READ_ONLY)).isEqualTo(1);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_COPIED)).isEqualTo(1);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_READ_WRITE)).isZero();
  }
}
