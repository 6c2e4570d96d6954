package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappingLimitTest {
  @TempDir Path root;

  @Test
  void leavesHalfOfTheKernelsLimitToOthers() throws IOException {
    Path file = root.resolve("proc/sys/vm/max_map_count");
    Files.createDirectories(file.getParent());
    Files.writeString(file, "262144\n");

    assertThat(MappingLimit.derive(root)).isEqualTo(131_072);
  }

  @Test
  void readsTheWholeNumberFromTheKernel() {
    assertThat(MappingLimit.derive(Path.of("/"))).isGreaterThan(1000);
  }

  @Test
  void assumesTheKernelsDefaultWhereItCannotBeRead() {
    assertThat(MappingLimit.derive(root)).isEqualTo(32_765);
  }
}
