package dev.sluice.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LocalDirectoriesTest {
  private static final Path FIRST = Path.of("/data/1");
  private static final Path TENTH = Path.of("/data/10");

  private final LocalDirectories directories =
      new LocalDirectories(
          Map.of(FIRST, RegistrationForm.READ_ONLY_MAPPING, TENTH, RegistrationForm.COPY));

  @Test
  void eachDirectoryHasItsOwnForm() throws Exception {
    assertThat(directories.form(FIRST.resolve("0c/shuffle_0_0_0.data")))
        .isEqualTo(RegistrationForm.READ_ONLY_MAPPING);
    assertThat(directories.form(TENTH.resolve("0c/shuffle_0_0_0.data")))
        .isEqualTo(RegistrationForm.COPY);
  }

  @Test
  void aFileElsewhereHasNone() {
    assertThatThrownBy(() -> directories.form(Path.of("/data/2/0c/shuffle_0_0_0.data")))
        .isInstanceOf(InconsistentFilesException.class)
        .hasMessageContainingAll("/data/2/0c/shuffle_0_0_0.data", "/data/1");
  }

  @Test
  void directoriesAreCountedByForm() {
    RegistryCounters counters = new RegistryCounters();
    directories.count(counters);

    assertThat(counters.get(RegistryCounter.DIRECTORIES_READ_ONLY)).isEqualTo(1);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_COPIED)).isEqualTo(1);
    assertThat(counters.get(RegistryCounter.DIRECTORIES_READ_WRITE)).isZero();
    assertThat(counters.get(RegistryCounter.DIRECTORIES_ON_DEMAND)).isZero();
  }
}
