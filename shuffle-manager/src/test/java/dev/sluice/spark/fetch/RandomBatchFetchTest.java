// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.fetch.RemoteBatches.Arrival;
import dev.sluice.spark.transport.MapOutput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A task with batch fetches reads each block once, with its bytes, and no buffer or lease is lost.
 * This holds whatever fails, in whatever order threads run, and if the task ends early. Each round
 * is a schedule of its own, which its seed repeats.
 */
@Timeout(300)
class RandomBatchFetchTest {
  private static final int ROUNDS = 5_000;
  private static final int MAPS = 12;
  private static final int PARTITIONS = 5;

  @Test
  void everyBlockIsReadOnce() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      try {
        new Round(seed).run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static final class Round {
    private final Random random;
    private final List<Runnable> steps = new ArrayList<>();
    private final ReadFixture reads;
    private final List<MapOutput> outputs = new ArrayList<>();
    private boolean isLate;

    Round(int seed) {
      random = new Random(seed);
      ReadOptions options =
          ReadFixture.OPTIONS.with(
              o -> {
                o.maxGroupBytes = 4_000;
                o.gatherBytes = random.nextInt(3_000, 60_000);
                o.maxStagedBytes = chance(30) ? 1_000 : 1 << 20;
              });
      reads = new ReadFixture(options, steps::add, random.nextInt(1 << 17));
    }

    void run() {
      int partitions = chance(50) ? PARTITIONS : 40; // Tables are READ whole or in part.
      for (long map = 0; map < MAPS; map++) {
        int[] lengths = random.ints(PARTITIONS, 16, chance(90) ? 1500 : 6000).toArray();
        lengths = Arrays.copyOf(lengths, partitions);
        outputs.add(reads.any(random, map, lengths));
      }
      breakThings();
      String[] blocks = randomBlocks();
      BatchFetchFixture task = new BatchFetchFixture(reads, Scheduled::new, null).start(blocks);
      task.concatenates = chance(70);
      task.maxBytesInFlight = chance(50) ? random.nextInt(5_000) : task.maxBytesInFlight;
      if (chance(80)) {
        task.readAll();
        assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
        assertThat(task.metrics.getOrDefault("incRemoteBlocksFetched", 0L))
            .isEqualTo(blocks.length - task.bySpark.size());
      } else if (chance(50)) {
        task.readNext();
        assertThat(task.delivered).doesNotHaveDuplicates();
      }
      task.close();
      while (!steps.isEmpty()) {
        step();
      }
      reads.timer.advanceMs(20_000);
      assertThat(steps).isEmpty();
      reads.assertNothingIsHeld();
      assertThat(reads.count("read.bytes"))
          .isEqualTo(task.metrics.getOrDefault("incRemoteBytesRead", 0L));
    }

    private void breakThings() {
      reads.breakReads(random, MAPS * 224);
      reads.stager.misbehave(random);
      if (chance(20)) {
        reads.transport.poolBytes(random.nextInt(20_000));
      }
      if (chance(5)) {
        reads.locator.silence();
      }
      if (chance(20)) {
        reads.readFromOthers();
        isLate = true;
      }
      if (isLate && chance(20)) {
        reads.beLate();
        reads.timer.advanceMs(30_000); // Time for a probe.
      }
    }

    private String[] randomBlocks() {
      List<String> blocks = new ArrayList<>();
      for (MapOutput output : outputs) {
        int partition = random.nextInt(PARTITIONS);
        if (chance(20)) {
          blocks.add(ReadFixture.batch(output.mapId(), partition, PARTITIONS));
        } else if (chance(90)) {
          blocks.add(ReadFixture.block(output.mapId(), partition));
        }
      }
      return blocks.isEmpty()
          ? new String[] {ReadFixture.block(0, 0)}
          : blocks.toArray(String[]::new);
    }

    private void step() {
      steps.remove(random.nextInt(steps.size())).run();
      if (chance(3)) {
        reads.timer.advanceMs(random.nextInt(9_000));
      }
      if (isLate && chance(3)) {
        reads.beLate();
      }
    }

    /** Does what a waiting task does every 50 ms. */
    private void leaveLateReads(RemoteBatches batches, long room) {
      reads.timer.advanceMs(random.nextInt(100));
      ((BatchFetcher) batches).leaveLateReads(room);
    }

    private boolean chance(int percent) {
      return random.nextInt(100) < percent;
    }

    /** Runs other threads where the task would wait. */
    private final class Scheduled implements RemoteBatches {
      private final RemoteBatches batches;

      Scheduled(RemoteBatches batches) {
        this.batches = batches;
      }

      @Override
      public boolean start(ExecutorBlocks group) {
        return batches.start(group);
      }

      @Override
      public void answered(SparkBlocks blocks) {
        steps.add(() -> batches.answered(blocks));
      }

      @Override
      public Arrival poll() {
        return batches.poll();
      }

      @Override
      public boolean await(long room) throws InterruptedException {
        if (steps.isEmpty()) {
          reads.timer.advanceMs(20_000);
        }
        if (steps.isEmpty()) {
          return batches.await(room);
        }
        if (isLate && chance(20)) {
          leaveLateReads(batches, room);
        }
        step();
        return true;
      }

      @Override
      public void awaitAnswer() {
        step();
      }

      @Override
      public void close() {
        batches.close();
      }
    }
  }
}
