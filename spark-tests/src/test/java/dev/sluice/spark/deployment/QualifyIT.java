// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.spark.cluster.SparkHome;
import dev.sluice.spark.deployment.DoctorProcess.Result;
import dev.sluice.spark.other.SparkJars;
import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code doctor qualify} from the drop-in jar, on event logs that Spark has written. */
final class QualifyIT {
  @TempDir private Path directory;

  private Result qualify(Map<String, String> environment, Path log, String... options)
      throws Exception {
    List<String> all = new ArrayList<>(List.of("qualify", log.toString()));
    all.addAll(List.of(options));
    return DoctorProcess.run(
        directory,
        environment,
        DoctorProcess.command(DropInJar.path(), all.toArray(new String[0])));
  }

  private Map<String, String> withSpark() throws IOException {
    SparkHome home = SparkHome.create(directory.resolve("spark-home"), SparkJars.onJava25());
    return Map.of("SPARK_HOME", home.directory().toString());
  }

  private static LocalCluster start(Path logs, String manager, String codec, boolean rolling) {
    return LocalCluster.start(
        "spark.shuffle.manager",
        manager,
        "spark.eventLog.enabled",
        "true",
        "spark.eventLog.dir",
        logs.toUri().toString(),
        "spark.eventLog.compress",
        Boolean.toString(!codec.equals("none")),
        "spark.eventLog.compression.codec",
        codec.equals("none") ? "zstd" : codec,
        "spark.eventLog.rolling.enabled",
        Boolean.toString(rolling));
  }

  private static Path onlyLog(Path logs) throws IOException {
    try (Stream<Path> files = Files.list(logs)) {
      return files.filter(file -> !file.getFileName().toString().startsWith(".")).findFirst().get();
    }
  }

  /** The answer is one line; the JVM may warn of a codec's library before it. */
  private static JsonNode json(Result result) throws IOException {
    String line =
        result.output().lines().filter(text -> text.startsWith("{")).findFirst().orElseThrow();
    return new ObjectMapper().readTree(line);
  }

  @ParameterizedTest
  @CsvSource({"none, false", "zstd, true", "lz4, false", "snappy, true", "lzf, false"})
  void blocksOfALogAreThoseThatSparkCounts(String codec, boolean rolling) throws Exception {
    Path logs = Files.createDirectory(directory.resolve("logs"));
    LocalCluster.ReadMetrics.Sums sums;
    String id;
    try (LocalCluster cluster = start(logs, "sort", codec, rolling)) {
      assertThat(KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(cluster.context(), 4)))
          .isEqualTo(KnownShuffle.SMALL.answer());
      id = cluster.context().sc().applicationId();
      sums = cluster.metrics();
      Result running = qualify(withSpark(), onlyLog(logs));
      assertThat(running.exitCode()).as(running.output()).isBetween(1, 2);
      assertThat(running.output()).doesNotContain("\tat ");
    }
    Result result = qualify(withSpark(), onlyLog(logs), "--json");
    assertThat(result.exitCode()).as(result.output()).isZero();
    JsonNode json = json(result);
    assertThat(json.get("application_id").asText()).isEqualTo(id);
    assertThat(json.get("spark").asText()).matches("4\\..*");
    assertThat(json.get("remote_blocks").asLong()).isEqualTo(sums.remoteBlocks()).isPositive();
    assertThat(json.get("remote_bytes").asLong()).isEqualTo(sums.remoteBytes());
    assertThat(json.get("blocks").asLong()).isEqualTo(sums.remoteBlocks() + sums.localBlocks());
    assertThat(json.get("malformed_lines").asLong()).isZero();
    assertThat(json.get("stages")).hasSize(1);
    JsonNode stage = json.get("stages").get(0);
    assertThat(stage.get("tasks").asInt()).isEqualTo(4);
    assertThat(stage.get("records").asLong()).isEqualTo(16 * 500);
    assertThat(stage.get("name").asText()).startsWith("collectAsMap");
    assertThat(stage.get("verdict").asText()).isNotEqualTo("gain");
  }

  @Test
  void aLogOfSluiceIsNotQualified() throws Exception {
    Path logs = Files.createDirectory(directory.resolve("logs"));
    try (LocalCluster cluster =
        start(logs, System.getProperty("spark.shuffle.manager"), "zstd", false)) {
      KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(cluster.context(), 4));
    }
    Result result = qualify(withSpark(), onlyLog(logs));
    assertThat(result.output())
        .contains("Sluice       unknown: ran with Sluice")
        .doesNotContain("WARNING");
    assertThat(result.exitCode()).isZero();

    Result none = qualify(Map.of(), onlyLog(logs));
    assertThat(none.output())
        .startsWith("the jar jackson-core-*.jar is missing")
        .contains("set SPARK_HOME")
        .hasLineCount(1);
    assertThat(none.exitCode()).isEqualTo(2);

    Path home = directory.resolve("spark-without-zstd");
    Path jackson;
    try (Stream<Path> jars = Files.list(directory.resolve("spark-home/jars"))) {
      jackson =
          jars.filter(jar -> jar.getFileName().toString().startsWith("jackson-core-"))
              .findFirst()
              .get();
    }
    Files.createDirectories(home.resolve("jars"));
    Files.copy(jackson, home.resolve("jars").resolve(jackson.getFileName()));
    Result withoutZstd = qualify(Map.of("SPARK_HOME", home.toString()), onlyLog(logs));
    assertThat(withoutZstd.output())
        .contains("is compressed by zstd, and the jar zstd-jni-*.jar is missing", "zstd -d")
        .hasLineCount(1);
    assertThat(withoutZstd.exitCode()).isEqualTo(2);
  }
}
