// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegionLimitTest {
  @TempDir Path root;

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void leavesHalfOfTheKernelsLimitToOthers() throws IOException {
    write("proc/sys/vm/max_map_count", "262144\n");
    write(
        "proc/self/limits",
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             96365                96365                processes
        Max open files            20000                30000                files
        Max locked memory         8388608              8388608              bytes
        """);

    assertThat(RegionLimit.MAPPINGS.derive(root)).isEqualTo(131_072);
    assertThat(RegionLimit.FILES.derive(root)).isEqualTo(5_000);
    assertThat(RegionLimit.MAPPINGS.kernelsFor(131_072)).isEqualTo(262_144);
    assertThat(RegionLimit.FILES.kernelsFor(5_000)).isEqualTo(20_000);
  }

  @Test
  void readsTheWholeNumberFromTheKernel() {
    assertThat(RegionLimit.MAPPINGS.derive(Path.of("/"))).isGreaterThan(1000);
    assertThat(RegionLimit.FILES.derive(Path.of("/"))).isGreaterThan(100);
  }

  @Test
  void assumesTheKernelsDefaultWhereItCannotBeRead() {
    assertThat(RegionLimit.MAPPINGS.derive(root)).isEqualTo(32_765);
    assertThat(RegionLimit.FILES.derive(root)).isEqualTo(1_024);
  }
}
