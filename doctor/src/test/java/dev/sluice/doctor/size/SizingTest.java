// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.size;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.conf.ExecutorConf;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SizingTest {
  private static final long MIB = 1 << 20;
  private static final long GIB = 1 << 30;

  private static Sizing sizing(String arguments) {
    return Sizing.of(SizeOptions.parse(List.of(arguments.split(" "))));
  }

  /** The model of docs/dev/scale.md: 16 executors on each of 63 nodes, with one adapter each. */
  @Test
  void queuePairsAreThoseOfTheModel() {
    Sizing.QueuePairs pairs =
        sizing("--executor-memory 1g --shuffle 1t --executors 1000 --nodes 63").pairs();
    assertThat(pairs.peers()).isEqualTo(984);
    assertThat(pairs.adapter()).isEqualTo(31_488);
    assertThat(pairs.nodeWithDaemons()).isEqualTo(1_984);
  }

  @Test
  void executorsOfANodeShareItsAdapters() {
    Sizing.QueuePairs pairs =
        sizing("--executor-memory 1g --shuffle 1t --executors 8 --nodes 2 --adapters 3").pairs();
    assertThat(pairs.executor()).isEqualTo(8);
    assertThat(pairs.node()).isEqualTo(32);
    assertThat(pairs.adapter()).isEqualTo(11);
    Sizing alone = sizing("--executor-memory 1g --shuffle 1t --executors 8 --nodes 1");
    assertThat(alone.pairs().executor()).as("all files are read from disk").isZero();
  }

  /** The overhead that is printed gives the executors of Spark the budget that is printed. */
  @ParameterizedTest
  @ValueSource(strings = {"1g", "32g", "5000m"})
  void theBudgetIsThatOfAnExecutorWithTheLines(String memory) {
    SizeOptions options =
        SizeOptions.parse(
            List.of("--executor-memory", memory, "--shuffle", "1t", "--executors", "3000"));
    Map<String, String> settings = Sizing.settings(options);
    ExecutorConf executor =
        new ExecutorConf(
            settings::get, new ExecutorConf.Jvm(GIB, Path.of("/nonexistent"), Map.of()));
    assertThat(Sizing.of(options).budget()).isEqualTo(executor.budget());
    assertThat(Sizing.of(options).lockedBytes()).isEqualTo(executor.lockedBytes());
    assertThat(settings).containsEntry("spark.shuffle.rdma.connections.max", "2999");
  }

  @Test
  void aLimitThatIsSetHolds() {
    String base = "--executor-memory 1g --shuffle 1t --executors 3000 --conf spark.shuffle.rdma.";
    assertThat(sizing(base + "connections.max=500").pairs().executor()).isEqualTo(1000);
    assertThat(sizing(base + "registration.maxBytes=0").registered().outputs()).isZero();
  }

  @Test
  void registeredAndStagedAreTheWhole() {
    Sizing sizing = sizing("--executor-memory 32g --shuffle 10t --executors 800");
    assertThat(sizing.outputs().count()).isEqualTo(103);
    assertThat(sizing.registered().outputs()).isBetween(6, 8);
    assertThat(sizing.registered().cost().bytes())
        .isLessThanOrEqualTo(sizing.budget().registrationBytes());
    assertThat(sizing.registeredBytes() + sizing.stagedBytes()).isEqualTo(103 * 128 * MIB);
  }

  /** The overhead that is recommended registers all, and a MiB less does not. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--executor-memory 32g --shuffle 10t --executors 800",
        "--executor-memory 8g --shuffle 300g --executors 7 --partitions 10",
        "--executor-memory 8g --shuffle 2t --executors 40 --conf spark.shuffle.rdma.memoryShare=0.3"
      })
  void theRecommendedOverheadRegistersAll(String arguments) {
    long overhead = sizing(arguments).overheadForAllBytes() / MIB;
    Sizing enough = sizing(arguments + " --memory-overhead " + overhead + "m");
    assertThat(enough.stagedBytes()).isZero();
    assertThat(enough.registered()).isEqualTo(enough.all());
    Sizing less = sizing(arguments + " --memory-overhead " + (overhead - 1) + "m");
    assertThat(less.budget().registrationBytes()).isLessThan(enough.all().cost().bytes());
  }

  @Test
  void fastAdaptersNeedMoreStagingMemory() {
    assertThat(sizing("--executor-memory 1g --shuffle 1g --executors 8").stagingEnoughBytes())
        .isEqualTo(12_500_000);
    Sizing fast = sizing("--executor-memory 1g --shuffle 1g --executors 8 --link 400");
    assertThat(fast.budget().stagingBytes()).isLessThan(fast.stagingEnoughBytes());
    long overhead = fast.overheadForAllBytes() / MIB;
    assertThat(
            sizing(
                    "--executor-memory 1g --shuffle 1g --executors 8 --link 400 --memory-overhead "
                        + overhead
                        + "m")
                .budget()
                .stagingBytes())
        .isGreaterThanOrEqualTo(fast.stagingEnoughBytes());
  }

  /** Spark divides an executor's buffers among its tasks, and limits what a task requests. */
  @Test
  void tasksGatherAsAnExecutorsDo() {
    String base =
        "--executor-memory 32g --shuffle 1t --executors 8 --memory-overhead 16g --cores 8";
    Sizing few = sizing(base + " --conf spark.task.cpus=4");
    assertThat(few.tasks()).isEqualTo(2);
    assertThat(few.taskBufferBytes()).as("spark.reducer.maxSizeInFlight").isEqualTo(48 * MIB);
    assertThat(sizing(base + " --conf spark.reducer.maxSizeInFlight=1g").taskBufferBytes())
        .isEqualTo(2 * GIB / 2 / 8);
    assertThat(sizing(base + " --conf spark.shuffle.rdma.gather=false").taskBufferBytes()).isZero();
  }

  @Test
  void aContainerHasOffHeapMemoryAsWell() {
    String base = "--executor-memory 32g --shuffle 10t --executors 800 --memory-overhead 4g";
    Sizing sizing =
        sizing(
            base
                + " --conf spark.memory.offHeap.enabled=true --conf spark.memory.offHeap.size=8g"
                + " --conf spark.executor.pyspark.memory=1g");
    assertThat(sizing.containerBytes()).isEqualTo(45 * GIB);
    assertThat(sizing.containerForAllBytes() - sizing.overheadForAllBytes()).isEqualTo(41 * GIB);
  }

  /** Pages on demand are not pinned: the budget is that of partition tables. */
  @Test
  void pagingOnDemandRegistersAll() {
    Sizing sizing =
        sizing(
            "--executor-memory 32g --shuffle 10t --executors 800"
                + " --conf spark.shuffle.rdma.registration.mode=odp");
    assertThat(sizing.stagedBytes()).isZero();
    assertThat(sizing.registered().cost().bytes()).isLessThan(256 * MIB);
  }

  /** Ten map outputs lie on ten executors, however many there are. */
  @Test
  void fewMapOutputsAreLarge() {
    Sizing few = sizing("--executor-memory 8g --shuffle 100g --executors 100 --maps 10");
    assertThat(few.outputs().count()).isOne();
    assertThat(few.dataBytes()).isEqualTo(10 * GIB);
  }

  /** Spark's keys without a unit are in MiB, but off-heap memory is in bytes. */
  @Test
  void memoryIsInSparksUnits() {
    Sizing sizing =
        sizing(
            "--executor-memory 32g --shuffle 10t --executors 800"
                + " --conf spark.executor.memoryOverhead=4096"
                + " --conf spark.memory.offHeap.enabled=True"
                + " --conf spark.memory.offHeap.size=8589934592");
    assertThat(sizing.overheadBytes()).isEqualTo(4 * GIB);
    assertThat(sizing.containerBytes()).isEqualTo(44 * GIB);
  }

  @Test
  void theLargestAnswersAreComputed() {
    Sizing large =
        sizing("--executor-memory 64t --shuffle 1024p --executors 1000000 --maps 100000000");
    assertThat(large.overheadForAllBytes()).isPositive();
    assertThat(large.pairs().limit()).isEqualTo(65_536);
    assertThat(large.pairs().peers()).isEqualTo(999_999);
    Sizing one =
        sizing(
            "--executor-memory 1g --shuffle 1024p --executors 1 --maps 1000"
                + " --conf spark.shuffle.rdma.memoryShare=0.1");
    assertThat(one.overheadForAllBytes()).isPositive();
    assertThat(one.containerForAllBytes()).isPositive();
  }
}
