// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.RegistryLimits;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** The same tests on map outputs that are staged. */
class StagedOutputReaderTest extends MapOutputReaderTest {
  @Override
  MapOutputRegistry registry(long maxBytes, LongSupplier clockMs) {
    return new MapOutputRegistry(
        domain,
        outputs.directories(),
        outputs::find,
        new RegistryLimits(0, 100, IDLE_MS),
        new RecordingListener(),
        clockMs);
  }

  @Test
  void nothingIsMapped() throws Exception {
    assertThat(resolve(SHUFFLE).isStaged()).isTrue();
    assertThat(outputs.mappings()).isZero();
    assertThat(domain.openRegions()).isZero();
  }

  @Test
  void aFileThatIsGoneIsUnreadable() throws Exception {
    Files.delete(outputs.data(SHUFFLE, MAP));
    assertThat(registry.reader(SHUFFLE).copy(MAP, 0, 1, new byte[100], 0))
        .isEqualTo(MapOutputReader.UNREADABLE);
  }

  @Test
  void aFileIsNotOpenedForEachBlock() throws Exception {
    byte[] target = new byte[5000];
    assertThat(registry.reader(SHUFFLE).copy(MAP, 0, 1, target, 0)).isEqualTo(100);
    Files.delete(outputs.data(SHUFFLE, MAP));
    assertThat(registry.reader(SHUFFLE).copy(MAP, 2, 3, target, 0)).isEqualTo(4091);
    assertThat(Arrays.copyOf(target, 4091)).isEqualTo(Arrays.copyOfRange(data, 100, 4191));
  }

  @Test
  void aTaskThatIsKilledHarmsNoOther() {
    byte[] target = new byte[5000];
    MapOutputReader reader = registry.reader(SHUFFLE);
    assertThat(reader.copy(MAP, 0, 1, target, 0)).isEqualTo(100);
    Thread.currentThread().interrupt();
    assertThat(reader.copy(MAP, 2, 3, target, 0)).isEqualTo(4091);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Arrays.copyOf(target, 4091)).isEqualTo(Arrays.copyOfRange(data, 100, 4191));
  }
}
