// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.size;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code doctor size} as a user calls it: its output, its errors and its exit status. */
class SizeCommandTest {
  private static final String BASE = "--executor-memory 32g --shuffle 10t --executors 800";

  private record Result(int status, String out, String err) {}

  private static Result run(String arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int status =
        SizeCommand.run(
            arguments.isEmpty() ? List.of() : List.of(arguments.split(" ")),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8));
    return new Result(status, out.toString(UTF_8), err.toString(UTF_8));
  }

  @Test
  void helpIsPrinted() {
    Result help = run("--help");
    assertThat(help.status()).isZero();
    assertThat(help.out()).contains("--executor-memory SIZE", "--json").isEqualTo(run("-h").out());
    assertThat(help.err()).isEmpty();
  }

  @Test
  void memoryAndLimitsArePrinted() {
    Result result = run(BASE + " --cores 8 --link 100");
    assertThat(result.status()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .isEqualTo(
            """
            Provider verbs, 800 executors of 32 GiB and 8 cores on 800 nodes. A shuffle of 10 TiB: 81920 map outputs of 81920 partitions
            overhead      3.2 GiB (as Spark derives it); an executor's container has 35.2 GiB
            registration  1.0 GiB
            buffers       410 MiB, of which each of 8 tasks gathers blocks in 25.6 MiB
            staging       205 MiB; 11.9 MiB keep 100 Gb/s busy
            map outputs   12.9 GiB of an executor: 103 of 128 MiB; registering all takes 13.0 GiB
            registered    896 MiB (6.8 %)
            staged        12 GiB (93.2 %)
            network       1.1 s at least, at 100 Gb/s
            memlock       1.6 GiB: LimitMEMLOCK=1751121920 or infinity
            queue pairs   1598 of an executor, 1598 of a node, 1598 of an adapter; with node daemons 1598 of a node

            # spark-defaults.conf
            spark.jars                                 /PATH/TO/sluice-spark-4-VERSION.jar
            spark.shuffle.manager                      dev.sluice.spark.RdmaShuffleManager
            spark.executor.instances                   800
            spark.executor.cores                       8
            spark.executor.memory                      32g
            spark.executor.memoryOverhead              3276m
            # This overhead registers all map outputs; the container then has 73.7 GiB
            # spark.executor.memoryOverhead              42701m
            """);
  }

  /** A setting that is missing has its default; others are passed on. */
  @Test
  void givenSettingsAreAmongTheLines() {
    String out =
        run(BASE + " --memory-overhead 46g --conf spark.shuffle.rdma.provider=verbs").out();
    assertThat(out)
        .contains(
            "overhead      46 GiB (as given)",
            "staged        0 B (0.0 %)",
            "spark.executor.memoryOverhead              47104m",
            "spark.shuffle.rdma.provider                verbs")
        .doesNotContain("This overhead registers");
  }

  @Test
  void jsonIsOneObjectWithUnitsInItsNames() {
    Result result = run(BASE + " --json");
    assertThat(result.out())
        .startsWith("{\"executors\": 800, ")
        .endsWith("}\n")
        .contains("\"overhead_bytes\": 3435134976", "\"queue_pairs_per_executor\": 1598")
        .contains("\"spark_defaults\": {\"spark.jars\": ");
    assertThat(result.status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "'', --executor-memory is missing",
    "--executor-memory 32g --executors 8, --shuffle is missing",
    "--executor-memory 32g --shuffle 1t, --executors is missing",
    "--executor-memory, --executor-memory needs a value",
    "--executor-memory 32x, '--executor-memory is 32x, not a size with a unit such as 512m, 32g or 10t'",
    "--executor-memory 1.5g, --executor-memory is 1.5g",
    "--executor-memory 0, --executor-memory is 0",
    "--executor-memory -1g, --executor-memory is -1g",
    "--executor-memory 32, '--executor-memory is 32, not a size with a unit'",
    "--executor-memory 0g, '--executor-memory is 0g, not from 450m to 64t'",
    "--executor-memory 449m, '--executor-memory is 449m, not from 450m to 64t'",
    "--executor-memory 65t, '--executor-memory is 65t, not from 450m to 64t'",
    "--executor-memory 9007199254740992k, --executor-memory is 9007199254740992k",
    "--memory-overhead 4096, '--memory-overhead is 4096, not a size with a unit'",
    "--memory-overhead 512k, '--memory-overhead is 512k, not from 1m to 64t'",
    "--memory-overhead 65t, '--memory-overhead is 65t, not from 1m to 64t'",
    "--memory-overhead many, --memory-overhead is many",
    "--shuffle 10tt, --shuffle is 10tt",
    "--shuffle 10, '--shuffle is 10, not a size with a unit'",
    "--shuffle 0b, '--shuffle is 0b, not from 1b to 1024p'",
    "--shuffle 8191p, '--shuffle is 8191p, not from 1b to 1024p'",
    "--shuffle 99999999999999999999t, --shuffle is 99999999999999999999t",
    "--executors 0, '--executors is 0, not a number from 1 to 1000000'",
    "--executors many, --executors is many",
    "--executors 99999999999, --executors is 99999999999",
    "--cores 1.5, --cores is 1.5",
    "--nodes 0, --nodes is 0",
    "--adapters -1, --adapters is -1",
    "--partitions 16777217, --partitions is 16777217",
    "--maps 0, --maps is 0",
    "--link fast, '--link is fast, not a rate from 1 to 99999 Gb/s such as 100'",
    "--link 1e3, --link is 1e3",
    "--link 0x1p4, --link is 0x1p4",
    "--link 0.5, --link is 0.5",
    "--link 100000, --link is 100000",
    "--link 0, --link is 0",
    "--link NaN, --link is NaN",
    "--link -100, --link is -100",
    "--conf x, '--conf is x, not KEY=VALUE'",
    "--conf a=b --conf a=c, --conf sets a twice",
    "--executor-memory 1g --conf spark.executor.memory=2g, --conf sets spark.executor.memory twice",
    "--size 10t, there is no option --size",
    "10t, there is no option 10t",
    "--json --json, --json is given twice"
  })
  void wrongOptionsAreNamed(String arguments, String words) {
    assertRefused(arguments, words);
  }

  @ParameterizedTest
  @CsvSource({
    "--nodes 801, '--nodes is 801, more than the 800 of --executors'",
    "--conf spark.shuffle.rdma.memoryShare=2, '--conf: spark.shuffle.rdma.memoryShare is \"2\"'",
    "--conf spark.shuffle.rdma.memryShare=1, did you mean spark.shuffle.rdma.memoryShare?",
    "--conf spark.executor.cores=8, '--conf sets spark.executor.cores: give it by --cores'",
    "--conf spark.shuffle.rdma.provider=soft, sizes are those of verbs",
    "--conf spark.task.cpus=x, spark.task.cpus is \"x\"",
    "--conf spark.task.cpus=0, spark.task.cpus is \"0\"",
    "--conf spark.executor.memoryOverheadFactor=x, spark.executor.memoryOverheadFactor is \"x\"",
    "--conf spark.executor.memoryOverheadFactor=-1, spark.executor.memoryOverheadFactor is \"-1\"",
    "--conf spark.executor.memoryOverheadFactor=NaN, memoryOverheadFactor is \"NaN\"",
    "--conf spark.executor.memoryOverheadFactor=1e30, memoryOverheadFactor is \"1e30\"",
    "--conf spark.executor.memoryOverhead=65t, spark.executor.memoryOverhead is \"65t\"",
    "--conf spark.executor.memoryOverhead=-1g, spark.executor.memoryOverhead is \"-1g\"",
    "--conf spark.executor.pyspark.memory=99999t, spark.executor.pyspark.memory is \"99999t\"",
    "--conf spark.memory.offHeap.enabled=yes, spark.memory.offHeap.enabled is \"yes\"",
    "--conf spark.memory.offHeap.enabled=true, but spark.memory.offHeap.size is less than 1m",
    "--conf spark.memory.offHeap.size=99999t, spark.memory.offHeap.size is \"99999t\"",
    "--conf spark.task.cpus=2, '--cores is 1, less than the 2 of spark.task.cpus'",
    "--conf spark.ssl.rpc.enabled=TRUE, no block is READ",
    "--conf spark.shuffle.useOldFetchProtocol=true, no block is READ",
    "--conf spark.shuffle.rdma.node=on, spark.shuffle.rdma.node is on",
    "--conf spark.shuffle.rdma.registration.maxBytes=20g, more than the overhead of 3276 MiB",
    "--memory-overhead 8m, 'take 12 MiB, more than the overhead of 8 MiB'"
  })
  void optionsThatContradictAreNamed(String arguments, String words) {
    assertRefused(BASE + " " + arguments, words);
  }

  @Test
  void moreMapOutputsThanBytesAreRefused() {
    assertRefused(
        "--executor-memory 1g --executors 1 --shuffle 8b --maps 9",
        "--maps is 9, more than the 8 bytes of --shuffle");
  }

  /** A line that nobody can follow would be worse than none. */
  @Test
  void anOverheadThatNoExecutorHasIsNotPrinted() {
    String out = run("--executor-memory 1g --executors 1 --shuffle 1024p --maps 1000").out();
    assertThat(out)
        .contains("# No overhead registers all map outputs")
        .doesNotContain("This overhead registers");
  }

  private static void assertRefused(String arguments, String words) {
    Result result = run(arguments);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err().lines().findFirst().orElseThrow()).contains(words);
    assertThat(result.err()).contains("--executor-memory SIZE").doesNotContain("Exception", "null");
  }
}
