// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.MapOutputHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A registered map output of four partitions. Checks that each test leaves nothing of it. */
abstract class RegisteredOutputFixture {
  static final int SHUFFLE = 3;
  static final long MAP = 7;
  static final long IDLE_MS = 1_000;

  @TempDir Path directory;
  final FakeProtectionDomain domain = new FakeProtectionDomain();
  TestMapOutputs outputs;
  MapOutputRegistry registry;
  byte[] data;

  @BeforeEach
  void register() throws Exception {
    outputs = new TestMapOutputs(directory);
    registry = registry(1 << 20, () -> 0);
    data = outputs.write(SHUFFLE, MAP, 100, 0, 4091, 9);
    assertThat(resolve(SHUFFLE)).isNotNull();
  }

  MapOutputRegistry registry(long maxBytes, LongSupplier clockMs) {
    return new MapOutputRegistry(
        domain,
        outputs.directories(),
        outputs::find,
        new RegistryLimits(maxBytes, 100, IDLE_MS),
        new RecordingListener(),
        clockMs);
  }

  /** Resolves the map output; null if it cannot be registered. */
  MapOutputHeader resolve(int shuffleId) throws Exception {
    return ResolvedOutput.header(registry, shuffleId, MAP);
  }

  /** Changes a byte of the file, but not of {@link #data}. */
  void falsify(int position) throws IOException {
    try (FileChannel file =
        FileChannel.open(outputs.data(SHUFFLE, MAP), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {(byte) ~data[position]}), position);
    }
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    registry.close();
    assertThat(domain.openRegions()).isZero();
    assertThat(outputs.mappings()).isZero();
  }
}
