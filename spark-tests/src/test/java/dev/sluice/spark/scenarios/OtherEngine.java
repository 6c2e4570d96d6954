// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.package$;
import org.apache.spark.sql.Row;

/**
 * Applications with Sluice and released jars of another project. Each jar is for one version of
 * Spark, and the build's profiles name it. With another version its test is skipped.
 */
final class OtherEngine {
  /** Partitions of all shuffles. */
  static final int PARTITIONS = 8;

  private static final Path JARS =
      Path.of(System.getProperty("sluice.target")).resolve("other-engines");

  private OtherEngine() {}

  /**
   * Runs work in an application that adds the engine's jars, as spark-submit does.
   *
   * @param engine name of the folder with its jars
   * @param dir folder for tables
   * @param settings other settings than Sluice's
   * @return the answer of the work
   */
  static List<Row> run(
      String engine, Path dir, Map<String, String> settings, Function<LocalCluster, List<Row>> work)
      throws IOException {
    List<Path> jars = jars(engine);
    Map<String, String> all = new HashMap<>(settings);
    all.put("spark.jars", jars.stream().map(Path::toString).collect(Collectors.joining(",")));
    all.put("spark.sql.warehouse.dir", dir.resolve("tables").toUri().toString());
    all.put("spark.sql.autoBroadcastJoinThreshold", "-1");
    all.put("spark.sql.shuffle.partitions", Integer.toString(PARTITIONS));
    all.put("spark.sql.adaptive.coalescePartitions.enabled", "false");

    Thread driver = Thread.currentThread();
    ClassLoader loader = driver.getContextClassLoader();
    try (URLClassLoader added = new URLClassLoader(urls(jars), loader)) {
      driver.setContextClassLoader(added);
      try (LocalCluster cluster = LocalCluster.start(alternating(all))) {
        List<Row> rows = work.apply(cluster);
        assertThat(cluster.executors()).hasSize(2);
        return rows;
      }
    } finally {
      driver.setContextClassLoader(loader);
    }
  }

  private static List<Path> jars(String engine) throws IOException {
    Path folder = JARS.resolve(engine);
    assumeTrue(
        Files.isDirectory(folder),
        "the build has no %s for Spark %s".formatted(engine, package$.MODULE$.SPARK_VERSION()));
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  private static URL[] urls(List<Path> jars) throws IOException {
    URL[] urls = new URL[jars.size()];
    for (int i = 0; i < urls.length; i++) {
      urls[i] = jars.get(i).toUri().toURL();
    }
    return urls;
  }

  private static String[] alternating(Map<String, String> settings) {
    return settings.entrySet().stream()
        .flatMap(setting -> Stream.of(setting.getKey(), setting.getValue()))
        .toArray(String[]::new);
  }
}
