package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.benchmarks.JsonFile;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.tpcds.KeptResults.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptResultsTest {
  private static final Settings SETTINGS = new Settings(Shuffle.PAIR, List.of("q1"), 2);

  @TempDir Path directory;
  private Path file;

  @BeforeEach
  void nameAFile() {
    file = directory.resolve("tpcds.json.processes");
  }

  @Test
  void aRunGoesOnAfterTheRoundsThatHaveEnded() throws IOException {
    ProcessResult ended = SampleResults.of(Shuffle.SLUICE, 0, SampleResults.query("q1", 1.5));
    KeptResults.in(file, SETTINGS).add(List.of(ended));
    KeptResults again = KeptResults.in(file, SETTINGS);

    assertThat(again.has(0)).isTrue();
    assertThat(again.has(1)).isFalse();
    assertThat(again.rounds().processes()).usingRecursiveComparison().isEqualTo(List.of(ended));
  }

  @Test
  void aFileThatIsReplacedIsCompleteOrAsItWas() throws IOException {
    KeptResults results = KeptResults.in(file, SETTINGS);
    results.add(List.of(SampleResults.of(Shuffle.SLUICE, 0, SampleResults.query("q1", 1.5))));
    String before = Files.readString(file);

    assertThatThrownBy(() -> JsonFile.write(file, new Object())).isInstanceOf(IOException.class);
    assertThat(file).hasContent(before);
  }

  @Test
  void resultsOfOtherSettingsAreNotMixed() throws IOException {
    KeptResults.in(file, SETTINGS)
        .add(List.of(SampleResults.of(Shuffle.SLUICE, 0, SampleResults.query("q1", 1.5))));

    assertThatThrownBy(() -> KeptResults.in(file, new Settings(Shuffle.PAIR, List.of("q1"), 3)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another file");
  }

  @Test
  void withoutAFileNothingIsKept() throws IOException {
    KeptResults results = KeptResults.in(null, SETTINGS);
    results.add(List.of(SampleResults.of(Shuffle.STOCK, 0, SampleResults.query("q1", 1.5))));

    assertThat(results.has(0)).isTrue();
    assertThat(directory).isEmptyDirectory();
  }
}
