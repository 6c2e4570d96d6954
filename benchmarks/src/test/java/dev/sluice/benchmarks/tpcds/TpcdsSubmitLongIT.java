// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.QueryJob.QueryResults;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryAttempt;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.Installation;
import dev.sluice.testkit.JsonFile;
import dev.sluice.testkit.NodeCluster;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.SparkJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * The jobs of TPC-DS by spark-submit on a standalone cluster, as docs/dev/benchmarks.md has them.
 * The cluster's Spark has neither the generator nor Sluice.
 */
class TpcdsSubmitLongIT {
  private static final String SCALE = "0.01";
  private static final String QUERIES = "q3,q10,q96,q10";
  private static final long TIMEOUT_S = 600;

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  private final Installation installation = Installation.fromEnvironment();

  @Test
  void bothShufflesGiveTheSameAnswers() throws Exception {
    Path generator = linkSparksJars();
    try (NodeCluster cluster = NodeCluster.start(directory, Shuffle.STOCK, 2)) {
      Map<String, String> conf = cluster.conf(2, 1);
      submit("data", conf, generator, DataJob.class, tables(), SCALE, "2");
      QueryResults stock = query("stock", conf);
      // The Worker's shuffle service is stock Spark's.
      conf.put("spark.shuffle.service.enabled", "false");
      conf.put("spark.shuffle.manager", "dev.sluice.spark.RdmaShuffleManager");
      conf.put("spark.shuffle.rdma.provider", "soft");
      QueryResults sluice = query("sluice", conf);

      assertThat(stock.queries())
          .extracting(QueryResult::query)
          .containsExactly("q3", "q10", "q96");
      assertThat(stock.queries()).extracting(QueryResult::problem).containsOnlyNulls();
      assertThat(answers(stock)).hasSize(4).doesNotContainNull().isEqualTo(answers(sluice));
      assertThat(stock.totals()).isEqualTo(SluiceTotals.NONE);
      assertThat(sluice.totals().problems()).isEmpty();
      assertThat(sluice.totals().readBytes()).isPositive();
    }
  }

  private static List<String> answers(QueryResults results) {
    return results.queries().stream()
        .flatMap(query -> query.attempts().stream())
        .map(QueryAttempt::answer)
        .toList();
  }

  private String tables() {
    return directory.resolve("tables").toUri().toString();
  }

  /** Makes the cluster's SPARK_HOME; returns the generator's jar. */
  private Path linkSparksJars() throws IOException {
    Path jars = Files.createDirectories(directory.resolve("spark").resolve("jars"));
    List<Path> all;
    try (Stream<Path> files = Files.list(installation.sparkJars())) {
      all = files.toList();
    }
    List<Path> generator = new ArrayList<>();
    for (Path jar : all) {
      String name = jar.getFileName().toString();
      if (name.startsWith("tpcds-")) {
        generator.add(jar);
      } else {
        Files.createSymbolicLink(jars.resolve(name), jar);
      }
    }
    assertThat(generator).hasSize(1);
    return generator.getFirst();
  }

  private QueryResults query(String name, Map<String, String> conf) throws IOException {
    Path result = directory.resolve(name + ".json");
    submit(
        name,
        conf,
        installation.sluiceJar(),
        QueryJob.class,
        tables(),
        SCALE,
        QUERIES,
        result.toString());
    return JsonFile.read(result, QueryResults.class);
  }

  /** Runs SparkSubmit to its end. */
  private void submit(
      String name, Map<String, String> conf, Path jar, Class<?> main, String... arguments)
      throws IOException {
    Map<String, String> settings = new TreeMap<>(conf);
    settings.put("spark.executor.memory", "1g");
    settings.put("spark.local.dir", directory.resolve("driver").toString());
    settings.put("spark.sql.warehouse.dir", directory.resolve("warehouse").toUri().toString());
    settings.put("spark.ui.enabled", "false");
    // Otherwise executors on one machine read each other's files, and nothing is transferred.
    settings.put("spark.shuffle.readHostLocalDisk", "false");
    List<String> command = new ArrayList<>(List.of("--class", main.getName(), "--jars", "" + jar));
    settings.forEach((key, value) -> command.addAll(List.of("--conf", key + "=" + value)));
    command.add(installation.programJar().toString());
    command.addAll(List.of(arguments));
    Process process =
        new SparkJvm(directory.resolve("spark"), List.of(), List.of("-Xmx1g"))
            .running("org.apache.spark.deploy.SparkSubmit", command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name + ".log").toFile())
            .start();
    Commands.await(process, List.of("spark-submit", name, "in", "" + directory), TIMEOUT_S);
  }
}
