// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static dev.sluice.blocks.directory.RegistryCounter.REGISTERED_BYTES;
import static dev.sluice.blocks.directory.RegistryCounter.REGISTERED_REGIONS;
import static dev.sluice.blocks.directory.RegistryCounter.REJECTIONS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.Counters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Map outputs that cannot be registered: times of retries, and resources that attempts hold. */
@ParameterizedClass
@EnumSource
class RegistrationRetryTest {
  private static final int SHUFFLE = 3;

  @Parameter RegistrationMethod form;
  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final AtomicLong nowMs = new AtomicLong();
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;

  @BeforeEach
  void open() {
    outputs = new TestMapOutputs(directory);
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(form),
            outputs::find,
            new RegistryLimits(1 << 20, 100, 1_000),
            new RecordingListener(),
            nowMs::get);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    registry.close();
    assertThat(domain.openRegions()).isZero();
    assertThat(held()).containsOnly(0L);
  }

  private static void fail() {
    throw new InternalError("a page of the file cannot be read");
  }

  private MapOutputHeader resolve(int shuffleId, long mapId) throws Exception {
    return ResolvedOutput.header(registry, shuffleId, mapId);
  }

  /** Returns bytes and regions of the budget, and mappings and open files of the process. */
  private List<Long> held() throws IOException {
    Counters<RegistryCounter> counters = registry.counters();
    return List.of(
        counters.get(REGISTERED_BYTES),
        counters.get(REGISTERED_REGIONS),
        outputs.mappings(),
        outputs.openFiles());
  }

  /** Another map output is registered, so that the shuffle has memory that stays. */
  private void failAgainAndAgain(int partitions) throws Exception {
    outputs.write(SHUFFLE, 1, 10);
    MapOutputHeader other = resolve(SHUFFLE, 1);
    int[] partitionBytes = new int[partitions];
    Arrays.fill(partitionBytes, 10);
    byte[] data = outputs.write(SHUFFLE, 7, partitionBytes);
    domain.whenRegistering(RegistrationRetryTest::fail);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    List<Long> afterOne = held();
    for (int attempt = 0; attempt < 10; attempt++) {
      nowMs.addAndGet(CircuitBreaker.MAX_MS);
      assertThat(resolve(SHUFFLE, 7)).isNull();
    }
    assertThat(registry.counters().get(REJECTIONS)).isEqualTo(11);
    assertThat(held()).isEqualTo(afterOne);

    domain.whenRegistering(() -> {});
    nowMs.addAndGet(CircuitBreaker.MAX_MS);
    assertThat(domain.read(resolve(SHUFFLE, 7).data())).isEqualTo(data);
    assertThat(domain.read(other.data())).hasSize(10);
  }

  @Test
  void dataThatFailsAgainAndAgainTakesNoMoreThanOnce() throws Exception {
    failAgainAndAgain(200);
  }

  @Test
  void aTableThatFailsAgainAndAgainTakesNoMoreThanOnce() throws Exception {
    failAgainAndAgain(2_000); // larger than the rest of the slab
  }

  @Test
  void aDefectiveMapOutputIsNotRetriedAtEachResolve() throws Exception {
    outputs.write(SHUFFLE, 7, 10);
    domain.whenRegistering(RegistrationRetryTest::fail);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    assertThat(resolve(SHUFFLE, 7)).isNull();
    assertThat(domain.attempts()).isEqualTo(1);
    assertThat(registry.counters().get(REJECTIONS)).isEqualTo(1);
    nowMs.set(CircuitBreaker.FIRST_MS);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    assertThat(domain.attempts()).isEqualTo(2);
    nowMs.set(2 * CircuitBreaker.FIRST_MS);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    assertThat(domain.attempts()).as("the second pause is longer").isEqualTo(2);

    domain.whenRegistering(() -> {});
    nowMs.set(3 * CircuitBreaker.FIRST_MS);
    assertThat(resolve(SHUFFLE, 7)).isNotNull();
  }

  @Test
  void aMapOutputThatWasReplacedIsTriedAtOnce() throws Exception {
    outputs.write(SHUFFLE, 7, 10);
    Files.write(outputs.index(SHUFFLE, 7), new byte[1]);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    outputs.write(SHUFFLE, 7, 20);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    registry.invalidate(SHUFFLE, 7);

    assertThat(resolve(SHUFFLE, 7)).isNotNull();
  }

  @Test
  void aMapOutputThatIsCommittedAgainIsTriedAtOnce() throws Exception {
    outputs.write(SHUFFLE, 7, 10);
    Files.write(outputs.index(SHUFFLE, 7), new byte[1]);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    outputs.write(SHUFFLE, 7, 20);
    registry.add(SHUFFLE, 7);

    assertThat(resolve(SHUFFLE, 7)).isNotNull();
  }
}
