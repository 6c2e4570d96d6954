// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.TestMapOutputs;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Map outputs that may lie in any of two directories, as those of a MapReduce job. */
@Timeout(60)
class RegistrationTogetherTest {
  private static final int SHUFFLE = 3;
  private static final int MANY = 20;
  private static final List<Path> DIRECTORIES = List.of(Path.of("/disk1"), Path.of("/disk2"));

  private final AtomicInteger opening = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicInteger opened = new AtomicInteger();
  private final CountDownLatch go = new CountDownLatch(1);

  private MapOutputFiles outputs(int together) {
    return new MapOutputFiles() {
      @Override
      public Files find(int shuffleId, long mapId) {
        most.accumulateAndGet(opening.incrementAndGet(), Math::max);
        TestMapOutputs.await(go);
        opening.decrementAndGet();
        opened.incrementAndGet();
        return null;
      }

      @Override
      public List<Path> paths(int shuffleId, long mapId) {
        return DIRECTORIES.stream().map(directory -> directory.resolve("" + mapId)).toList();
      }

      @Override
      public int together() {
        return together;
      }
    };
  }

  private static void await(AtomicInteger counter, int value) throws InterruptedException {
    while (counter.get() < value) { // The test's timeout interrupts it.
      Thread.sleep(5);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void asManyAreOpenedTogetherAsTheFilesAllow(int together) throws Exception {
    try (MapOutputRegistry registry =
        new MapOutputRegistry(
            new FakeProtectionDomain(),
            LocalDirectories.unregistered(DIRECTORIES),
            outputs(together),
            TwoDisks.NONE_REGISTERED,
            new RecordingListener(),
            () -> 0)) {
      for (int mapId = 0; mapId < MANY; mapId++) {
        registry.add(SHUFFLE, mapId);
      }
      await(opening, together);
      go.countDown();
      await(opened, MANY);
      assertThat(most).hasValue(together);
    }
  }
}
