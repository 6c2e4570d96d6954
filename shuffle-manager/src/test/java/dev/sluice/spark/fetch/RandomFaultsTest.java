// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.transport.MapOutput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Each block has exactly one answer with its bytes, and no buffer or lease is lost, whatever fails
 * and in whatever order threads run. Each round is a schedule of its own, which its seed repeats.
 */
class RandomFaultsTest {
  private static final int ROUNDS = 10_000;

  @Test
  void everyBlockHasExactlyOneRightAnswer() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      try {
        new Round(seed).run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /** Several fetches at once, with their steps in random order. */
  private static final class Round {
    private final Random random;
    private final List<Runnable> steps = new ArrayList<>();
    private final ReadFixture fixture;
    private final Map<String[], RecordingListener> fetches = new LinkedHashMap<>();
    private final Map<Long, MapOutput> outputs = new HashMap<>();

    Round(int seed) {
      this.random = new Random(seed);
      ReadOptions options =
          ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = chance(20) ? 1_000 : 1 << 16);
      this.fixture = new ReadFixture(options, steps::add, random.nextInt(1 << 17));
      if (chance(30)) {
        fixture.transport.maxBufferBytes(random.nextInt(600, 2000)); // so that they come in slices
      }
    }

    void run() {
      makeMapOutputs();
      breakThings();
      for (int i = 0; i < 3; i++) {
        String[] blockIds = randomBlocks();
        RecordingListener listener = new RecordingListener().keep();
        fetches.put(blockIds, listener);
        fixture.client.fetchBlocks("host", 99, "7", blockIds, listener, null);
      }
      runSteps();
      fixture.timer.advanceMs(20_000);
      runSteps();
      check();
    }

    private void makeMapOutputs() {
      int partitions = chance(50) ? 5 : 40; // Tables are READ whole or in part.
      for (long mapId = 0; mapId < 4; mapId++) {
        int[] lengths = Arrays.copyOf(random.ints(5, 0, 2000).toArray(), partitions);
        outputs.put(mapId, fixture.any(random, mapId, lengths));
      }
    }

    private void breakThings() {
      fixture.breakReads(random, 4 * 224);
      fixture.locator.onInvalidate(
          stale -> {
            if (chance(50)) {
              fixture.move(outputs.get(stale.mapId()));
            }
          });
      fixture.stager.misbehave(random);
      if (chance(20)) {
        fixture.transport.poolBytes(random.nextInt(10_000));
      }
      if (chance(5)) {
        fixture.locator.silence();
      }
      for (long mapId = 0; mapId < 4; mapId++) {
        if (chance(5)) {
          fixture.spark.lose(ReadFixture.block(mapId, 0));
        }
      }
    }

    private String[] randomBlocks() {
      List<String> blockIds = new ArrayList<>();
      for (long mapId = 0; mapId < 4; mapId++) {
        for (int partition = 0; partition < 5; partition++) {
          if (chance(40)) {
            blockIds.add(
                chance(20)
                    ? ReadFixture.batch(mapId, partition, 5)
                    : ReadFixture.block(mapId, partition));
          }
        }
      }
      return blockIds.isEmpty()
          ? new String[] {ReadFixture.block(0, 0)}
          : blockIds.toArray(String[]::new);
    }

    private void runSteps() {
      int stalling = random.nextInt(10);
      while (!steps.isEmpty()) {
        steps.remove(random.nextInt(steps.size())).run();
        if (chance(stalling)) {
          fixture.timer.advanceMs(random.nextInt(9_000));
        }
      }
    }

    private void check() {
      fetches.forEach(
          (blockIds, listener) -> {
            List<String> answered = new ArrayList<>(listener.successes().keySet());
            answered.addAll(listener.failures().keySet());
            assertThat(answered).containsExactlyInAnyOrder(blockIds);
            assertThat(listener.repeated()).isEmpty();
            listener
                .successes()
                .forEach(
                    (blockId, bytes) ->
                        assertThat(bytes).as(blockId).isEqualTo(fixture.written(blockId)));
            listener.releaseKept();
          });
      fixture.assertNothingIsHeld();
    }

    private boolean chance(int percent) {
      return random.nextInt(100) < percent;
    }
  }
}
