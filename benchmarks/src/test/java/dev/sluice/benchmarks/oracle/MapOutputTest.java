package dev.sluice.benchmarks.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MapOutputTest {
  @TempDir private Path directory;

  private Path data;
  private Path index;

  @BeforeEach
  void writeThreePartitionsOfWhichTheSecondIsEmpty() throws IOException {
    data = Files.writeString(directory.resolve("shuffle_0_1_0.data"), "firstthird");
    index = directory.resolve("shuffle_0_1_0.index");
    writeOffsets(0, 5, 5, 10);
  }

  @Test
  void blocksAreWhatTheIndexSays() throws IOException {
    MapOutput output = MapOutput.open(data, index);
    assertThat(text(output, 0, 1)).isEqualTo("first");
    assertThat(text(output, 1, 2)).isEmpty();
    assertThat(text(output, 2, 3)).isEqualTo("third");
    assertThat(text(output, 0, 3)).isEqualTo("firstthird");
  }

  @Test
  void anIndexThatDoesNotMatchTheDataIsRefused() throws IOException {
    writeOffsets(0, 5, 5, 11);
    assertThatThrownBy(() -> MapOutput.open(data, index))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has 10 bytes, its index says 11");
  }

  @Test
  void aMapOutputIsOpenedOnceUntilItsShuffleIsForgotten() throws IOException {
    MapOutputs outputs = new MapOutputs();
    MapOutput first = outputs.get(0, 1, () -> MapOutput.open(data, index));
    assertThat(outputs.get(0, 1, () -> MapOutput.open(data, index))).isSameAs(first);

    outputs.forget(0);
    assertThat(outputs.get(0, 1, () -> MapOutput.open(data, index))).isNotSameAs(first);
  }

  @Test
  void whatCannotBeOpenedIsAnIoException() {
    Path missing = directory.resolve("missing");
    assertThatThrownBy(() -> new MapOutputs().get(0, 1, () -> MapOutput.open(missing, missing)))
        .isInstanceOf(IOException.class);
  }

  private void writeOffsets(long... offsets) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(offsets.length * Long.BYTES);
    bytes.asLongBuffer().put(offsets);
    Files.write(index, bytes.array());
  }

  private static String text(MapOutput output, int start, int end) throws IOException {
    try (InputStream in = output.block(start, end).createInputStream()) {
      return new String(in.readAllBytes());
    }
  }
}
