package dev.sluice.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OpenFilesTest {
  private static final int SHUFFLE = 3;
  private static final long MAP = 7;

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final OpenFiles files = new OpenFiles(() -> 0);
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;

  @BeforeEach
  void open() throws Exception {
    outputs = new TestMapOutputs(directory);
    outputs.write(SHUFFLE, MAP, 100);
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(0, 100, 1_000),
            new RecordingListener(),
            () -> 0);
    registry.resolve(SHUFFLE, new long[] {MAP}).get(10, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    files.close();
    registry.close();
  }

  private void read() {
    try {
      files.read(registry.output(SHUFFLE, MAP), 0, ByteBuffer.allocate(100));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aFileThatIsBeingReadWhenAllAreClosedIsClosedByItsReader() throws Exception {
    try (SlowFile file = SlowFile.inPlaceOf(outputs.data(SHUFFLE, MAP))) {
      CompletableFuture<Void> reader = CompletableFuture.runAsync(this::read);
      SlowFile.awaitReaders(1);
      files.close();
      file.answer();

      assertThatThrownBy(() -> reader.get(10, TimeUnit.SECONDS))
          .as("a pipe has no positions")
          .hasStackTraceContaining("seek");
    }
    assertThat(outputs.openFiles()).isZero();
  }
}
