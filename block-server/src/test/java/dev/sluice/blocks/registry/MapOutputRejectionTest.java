// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Files that do not fit together are not registered, and the log gives the reason. */
@ParameterizedClass
@EnumSource
class MapOutputRejectionTest {
  @Parameter RegistrationMethod form;
  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;

  @BeforeEach
  void open() throws Exception {
    outputs = new TestMapOutputs(directory);
    registry = registry(outputs.directories(form));
    outputs.write(1, 7, 10, 20);
  }

  private MapOutputRegistry registry(LocalDirectories directories) {
    return new MapOutputRegistry(
        domain,
        directories,
        outputs::find,
        new RegistryLimits(1 << 20, 100, 1_000),
        new RecordingListener(),
        () -> 0);
  }

  @AfterEach
  void close() {
    registry.close();
  }

  private void assertRejected() throws Exception {
    assertThat(registry.resolve(1, new long[] {7}).get(10, TimeUnit.SECONDS)).containsOnlyNulls();
    assertThat(registry.counters().get(RegistryCounter.REJECTIONS)).isEqualTo(1);
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_BYTES)).isZero();
    assertThat(domain.openRegions()).isZero();
    assertThat(outputs.mappings()).isZero();
  }

  private void writeIndex(long... offsets) throws IOException {
    ByteBuffer index = ByteBuffer.allocate(offsets.length * Long.BYTES);
    Arrays.stream(offsets).forEach(index::putLong);
    Files.write(outputs.index(1, 7), index.array());
  }

  @Test
  void aDataFileLongerThanItsIndexSays() throws Exception {
    Files.write(outputs.data(1, 7), new byte[1], StandardOpenOption.APPEND);
    assertRejected();
  }

  @Test
  void aTruncatedDataFile() throws Exception {
    Files.write(outputs.data(1, 7), new byte[29]);
    assertRejected();
    assertThat(outputs.data(1, 7)).hasSize(29);
  }

  @Test
  void dataWhereTheIndexSaysThereIsNone() throws Exception {
    writeIndex(0, 0, 0);
    assertRejected();
  }

  @Test
  void offsetsThatGoBack() throws Exception {
    writeIndex(0, 40, 30);
    assertRejected();
  }

  @Test
  void negativeOffsets() throws Exception {
    writeIndex(0, -10, 30);
    assertRejected();
  }

  @Test
  void aFirstOffsetThatIsNotZero() throws Exception {
    writeIndex(10, 20, 30);
    assertRejected();
  }

  @Test
  void anIndexWithoutPartitions() throws Exception {
    writeIndex(0);
    assertRejected();
  }

  @Test
  void anEmptyIndex() throws Exception {
    writeIndex();
    assertRejected();
  }

  @Test
  void anIndexThatIsCutOff() throws Exception {
    Files.write(outputs.index(1, 7), new byte[20]);
    assertRejected();
  }

  @Test
  void checksumsOfAnotherNumberOfPartitions() throws Exception {
    Files.write(outputs.checksums(1, 7), new byte[24]);
    assertRejected();
  }

  @Test
  void filesInNoKnownDirectory() throws Exception {
    registry.close();
    registry = registry(new LocalDirectories(Map.of(directory.resolve("other"), form)));
    assertRejected();
  }

  @Test
  void filesThatCannotBeRead() throws Exception {
    Files.delete(outputs.data(1, 7));
    Files.createDirectory(outputs.data(1, 7));
    assertRejected();
  }
}
