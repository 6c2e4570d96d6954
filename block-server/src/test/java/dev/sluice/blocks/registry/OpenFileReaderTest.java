// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.wire.MapOutputHeader;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** The same tests on map outputs that are registered as open files. */
class OpenFileReaderTest extends MapOutputReaderTest {
  @Override
  MapOutputRegistry registry(long maxBytes, LongSupplier clockMs) {
    return new MapOutputRegistry(
        domain,
        outputs.directories(RegistrationMethod.OPEN_FILE),
        outputs::find,
        new RegistryLimits(maxBytes, 100, IDLE_MS),
        new RecordingListener(),
        clockMs);
  }

  @Test
  void nothingIsMapped() throws Exception {
    assertThat(resolve(SHUFFLE).isStaged()).isFalse();
    assertThat(outputs.mappings()).isZero();
    assertThat(registry.open(SHUFFLE, MAP, 0, 1)).isNull();
  }

  @Test
  void aFileThatHasNoNameAnyMoreIsRead() throws Exception {
    MapOutputHeader location = resolve(SHUFFLE);
    Files.delete(outputs.data(SHUFFLE, MAP));
    assertThat(registry.reader(SHUFFLE).copy(MAP, 0, 1, new byte[100], 0)).isEqualTo(100);
    assertThat(domain.read(location.data())).isEqualTo(data);
  }

  @Test
  void aFileThatIsTooShortIsUnreadable() throws Exception {
    try (FileChannel file =
        FileChannel.open(outputs.data(SHUFFLE, MAP), StandardOpenOption.WRITE)) {
      file.truncate(4000);
    }
    MapOutputReader reader = registry.reader(SHUFFLE);
    assertThat(reader.copy(MAP, 0, 1, new byte[100], 0)).isEqualTo(100);
    assertThat(reader.copy(MAP, 2, 3, new byte[5000], 0)).isEqualTo(MapOutputReader.UNREADABLE);
  }

  @Test
  void tasksReadOneFileAtTheSameTime() throws Exception {
    List<CompletableFuture<Void>> tasks = new ArrayList<>();
    for (int partition : new int[] {0, 2, 3, 0, 2, 3}) {
      int start = partition == 0 ? 0 : partition == 2 ? 100 : 4191;
      int length = partition == 0 ? 100 : partition == 2 ? 4091 : 9;
      tasks.add(
          CompletableFuture.runAsync(
              () -> {
                MapOutputReader reader = registry.reader(SHUFFLE);
                byte[] target = new byte[length];
                for (int i = 0; i < 2_000; i++) {
                  assertThat(reader.copy(MAP, partition, partition + 1, target, 0))
                      .isEqualTo(length);
                  assertThat(target).isEqualTo(Arrays.copyOfRange(data, start, start + length));
                }
              }));
    }
    for (CompletableFuture<Void> task : tasks) {
      task.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void aTaskThatIsKilledHarmsNeitherOthersNorPeers() throws Exception {
    MapOutputHeader location = resolve(SHUFFLE);
    byte[] target = new byte[5000];
    MapOutputReader reader = registry.reader(SHUFFLE);
    Thread.currentThread().interrupt();
    assertThat(reader.copy(MAP, 2, 3, target, 0)).isEqualTo(4091);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Arrays.copyOf(target, 4091)).isEqualTo(Arrays.copyOfRange(data, 100, 4191));
    assertThat(domain.read(location.data())).isEqualTo(data);
  }
}
