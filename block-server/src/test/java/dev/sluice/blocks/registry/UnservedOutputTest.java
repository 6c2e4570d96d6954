// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Map outputs that the node daemon serves and this process reads from its own files. */
class UnservedOutputTest {
  private static final int SHUFFLE = 3;
  private static final long MAP = 7;

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final RecordingListener listener = new RecordingListener();

  /** Files that were opened, in order. */
  private final Queue<Path> opened = new ConcurrentLinkedQueue<>();

  private TestMapOutputs outputs;
  private MapOutputRegistry registry;
  private byte[] data;

  @BeforeEach
  void open() throws Exception {
    outputs = new TestMapOutputs(directory);
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(1 << 20, 100, 1_000),
            listener,
            () -> 0);
    data = outputs.write(SHUFFLE, MAP, 100, 0, 4091, 9);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    registry.unregister(SHUFFLE);
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_OUTPUTS)).isZero();
    registry.close();
    assertThat(domain.openRegions()).isZero();
    assertThat(outputs.mappings()).isZero();
    assertThat(outputs.openFiles()).isZero();
  }

  private MapOutputFiles.Files files(long mapId) {
    FileGuard recording =
        path -> {
          opened.add(path);
          return new FileGuard.Guarded(path, () -> {});
        };
    return new MapOutputFiles.Files(
        outputs.data(SHUFFLE, mapId),
        outputs.index(SHUFFLE, mapId),
        outputs.checksums(SHUFFLE, mapId),
        ChecksumAlgorithm.CRC32C,
        IndexFormat.SPARK,
        recording);
  }

  private int copy(int start, int end, byte[] target) {
    return registry.reader(SHUFFLE).copy(MAP, start, end, target, 0);
  }

  @Test
  void aCommitOpensNoFileAndTheFirstReaderReadsTheIndexOnce() throws Exception {
    registry.addUnserved(SHUFFLE, MAP, files(MAP));
    assertThat(registry.output(SHUFFLE, MAP).table().partitions()).isEqualTo(4);
    assertThat(opened).isEmpty();

    byte[] target = new byte[4200];
    assertThat(copy(1, 4, target)).isEqualTo(4100);
    assertThat(Arrays.copyOf(target, 4100)).isEqualTo(Arrays.copyOfRange(data, 100, 4200));
    assertThat(copy(0, 4, target)).isEqualTo(4200);
    assertThat(target).isEqualTo(data);
    assertThat(opened).containsOnlyOnce(outputs.index(SHUFFLE, MAP));
    assertThat(listener.events).isEmpty();
    assertThat(domain.openRegions()).isZero();
  }

  /** A commit that looked at this index would refuse the map output. */
  @Test
  void aCommitReadsNothingOfTheIndex() throws Exception {
    byte[] index = Files.readAllBytes(outputs.index(SHUFFLE, MAP));
    byte[] random = new byte[index.length];
    Arrays.fill(random, (byte) 0x55);
    Files.write(outputs.index(SHUFFLE, MAP), random);
    registry.addUnserved(SHUFFLE, MAP, files(MAP));
    Files.write(outputs.index(SHUFFLE, MAP), index);
    byte[] target = new byte[4200];
    assertThat(copy(0, 4, target)).isEqualTo(4200);
    assertThat(target).isEqualTo(data);
  }

  @Test
  void aMapOutputWithoutBytesHasEmptyPartitions() throws Exception {
    outputs.write(SHUFFLE, 8, 0, 0);
    registry.addUnserved(SHUFFLE, 8, files(8));
    assertThat(registry.reader(SHUFFLE).copy(8, 0, 2, new byte[1], 0)).isZero();
    assertThat(registry.segment(SHUFFLE, 8, 0, 2).length()).isZero();
  }

  @Test
  void filesThatLookLikeNoMapOutputAreNotTaken() throws Exception {
    Files.write(outputs.index(SHUFFLE, MAP), new byte[12]);
    registry.addUnserved(SHUFFLE, MAP, files(MAP));
    outputs.delete(SHUFFLE, 8);
    registry.addUnserved(SHUFFLE, 8, files(8));
    assertThat(registry.reader(SHUFFLE)).isNull();
    assertThat(registry.shuffles()).isEmpty();
  }

  @Test
  void anIndexThatDoesNotFitTheDataIsUnreadable() throws Exception {
    Files.write(outputs.data(SHUFFLE, MAP), Arrays.copyOf(data, 4000));
    registry.addUnserved(SHUFFLE, MAP, files(MAP));
    assertThat(copy(0, 1, new byte[4200])).isEqualTo(MapOutputReader.UNREADABLE);
    assertThat(registry.segment(SHUFFLE, MAP, 0, 1)).isNull();
  }

  @Test
  void theShuffleIsKnownUntilItIsUnregistered() throws Exception {
    registry.addUnserved(SHUFFLE, MAP, files(MAP));
    registry.addUnserved(SHUFFLE, MAP, files(MAP));
    assertThat(registry.shuffles()).isEqualTo(List.of(SHUFFLE));
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_OUTPUTS)).isOne();
    registry.unregister(SHUFFLE);
    assertThat(registry.shuffles()).isEmpty();
    assertThat(registry.output(SHUFFLE, MAP)).isNull();
  }
}
