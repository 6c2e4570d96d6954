// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.MapOutputHeader;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with mappings of real files, and the kernel's statistics about them. */
class ResidentPagesTest {
  private static final int OUTPUT_BYTES = 64 << 20;

  /** More than one map output, less than two. The libraries' resident pages vary by less. */
  private static final long MAX_BYTES = 96 << 20;

  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final AtomicLong nowMs = new AtomicLong();
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;

  private void open(RegistrationMethod form, long maxBytes) {
    outputs = new TestMapOutputs(directory);
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(form),
            outputs::find,
            new RegistryLimits(maxBytes, 100, Long.MAX_VALUE / 2),
            new RecordingListener(),
            nowMs::get);
  }

  @AfterEach
  void close() throws Exception {
    registry.close();
    assertThat(outputs.mappings()).isZero();
  }

  private void readAll(int shuffleId, byte[] data) throws Exception {
    MapOutputHeader header = ResolvedOutput.header(registry, shuffleId, 7);
    assertThat(domain.read(header.data())).isEqualTo(data);
  }

  private long timesGivenBack() {
    return registry.counters().get(RegistryCounter.PAGES_GIVEN_BACK);
  }

  /** Waits until pages are given back and at most this much of the file is resident. */
  private void awaitResident(int shuffleId, long maxBytes) throws Exception {
    long deadlineNs = System.nanoTime() + TIMEOUT_NS;
    while (outputs.residentBytes(shuffleId, 7) > maxBytes) {
      assertThat(System.nanoTime()).isLessThan(deadlineNs);
      Thread.sleep(10);
    }
  }

  @Test
  void pagesBeyondTheBudgetAreGivenBackAndReadAgain() throws Exception {
    open(RegistrationMethod.ON_DEMAND_MAPPING, 1 << 20);
    byte[] data = outputs.write(1, 7, OUTPUT_BYTES);
    for (int time = 0; time < 3; time++) {
      readAll(1, data);
      awaitResident(1, 0);
    }
    assertThat(domain.openRegions()).as("data and tables").isEqualTo(2);
  }

  @Test
  void leastRecentlyReadPagesAreGivenBackFirst() throws Exception {
    open(RegistrationMethod.ON_DEMAND_MAPPING, MAX_BYTES);
    byte[] first = outputs.write(1, 7, OUTPUT_BYTES);
    byte[] second = outputs.write(2, 7, OUTPUT_BYTES);
    readAll(1, first);
    readAll(2, second);
    awaitResident(1, 0);
    // After that, the baseline of the process's other resident pages is known.
    long times;
    do {
      times = timesGivenBack();
      Thread.sleep((ResidentPages.TICKS_TO_VERIFY + 2) * ResidentPages.TICK_MS);
    } while (timesGivenBack() > times);
    nowMs.set(10);
    readAll(1, first);
    nowMs.set(20);
    readAll(2, second);
    awaitResident(1, 0);
    assertThat(outputs.residentBytes(2, 7)).isEqualTo(OUTPUT_BYTES);
  }

  @Test
  void pinnedPagesAreNotGivenBack() throws Exception {
    open(RegistrationMethod.READ_ONLY_MAPPING, MAX_BYTES);
    byte[] data = outputs.write(1, 7, OUTPUT_BYTES);
    readAll(1, data);
    Thread.sleep(3 * ResidentPages.TICK_MS);
    assertThat(outputs.residentBytes(1, 7)).isEqualTo(OUTPUT_BYTES);
    assertThat(timesGivenBack()).isZero();
  }
}
