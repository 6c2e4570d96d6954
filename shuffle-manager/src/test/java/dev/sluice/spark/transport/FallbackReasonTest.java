package dev.sluice.spark.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FallbackReasonTest {
  private static final Path TROUBLESHOOTING = Path.of("../docs/troubleshooting.md");

  @ParameterizedTest
  @EnumSource
  void whoSeesItFindsWhatToDo(FallbackReason reason) throws IOException {
    assertThat(Files.readString(TROUBLESHOOTING)).contains("\n| `" + reason + "` | ");
  }
}
