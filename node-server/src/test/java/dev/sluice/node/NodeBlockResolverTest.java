// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeBlockResolverTest {
  private static final int SHUFFLE = 5;
  private static final long MAP = 10;

  @TempDir Path directory;
  private MapOutputRegistry registry;
  private NodeBlockResolver resolver;

  @BeforeEach
  void open() throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(directory);
    outputs.write(SHUFFLE, MAP, 300, 700);
    registry =
        new MapOutputRegistry(
            new FakeProtectionDomain(),
            outputs.directories(),
            outputs::find,
            RegistryLimits.OFF,
            new RecordingListener(),
            System::nanoTime);
    resolver =
        new NodeBlockResolver(
            ApplicationPort.transport(), "app-1-0123456789abcdef", outputs::find, registry);
  }

  @AfterEach
  void close() {
    registry.close();
  }

  @Test
  void servesTheApplicationOfThatId() {
    assertThat(resolver.getBlockData("app-1", "3", SHUFFLE, MAP, 1).size()).isEqualTo(700);
  }

  @ParameterizedTest
  @ValueSource(strings = {"app", "app-1-0123456789abcdef", "app-", "app-2", "", "1"})
  void refusesEveryOtherId(String other) {
    assertThatThrownBy(() -> resolver.getBlockData(other, "3", SHUFFLE, MAP, 1))
        .isInstanceOf(SecurityException.class);
    assertThatThrownBy(
            () -> resolver.diagnoseShuffleBlockCorruption(other, "3", SHUFFLE, MAP, 1, 0, "CRC32C"))
        .isInstanceOf(SecurityException.class);
  }
}
