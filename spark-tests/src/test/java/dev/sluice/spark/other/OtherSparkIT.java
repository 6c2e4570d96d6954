// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.other;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.launcher.JavaModuleOptions;
import org.apache.spark.package$;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The drop-in jar outside the versions that it is made for: on a Spark that reports version 4.9.0,
 * on Java 17, on Spark 3.5 if the build is against that, and with Hadoop's jars as Spark 4.1 ships
 * them. Spark's UI gives the reason for the stock shuffle, but not that of Spark 3.5.
 */
final class OtherSparkIT {
  private static final String PROGRAM =
      """
      import org.apache.spark.SparkConf;
      import org.apache.spark.SparkEnv;
      import org.apache.spark.api.java.JavaSparkContext;
      import java.net.URI;
      import java.net.http.HttpClient;
      import java.net.http.HttpRequest;
      import java.net.http.HttpResponse;
      import java.time.Duration;
      import java.util.List;
      import scala.Tuple2;

      public class Program {
        public static void main(String[] args) throws Exception {
          SparkConf conf =
              new SparkConf()
                  .setMaster("local[2]")
                  .setAppName("other")
                  .set("spark.ui.port", "0")
                  .set("spark.shuffle.manager", "dev.sluice.spark.RdmaShuffleManager")
                  .set("spark.shuffle.rdma.provider", args[0]);
          try (JavaSparkContext context = new JavaSparkContext(conf)) {
            List<Tuple2<Integer, Integer>> sums =
                context
                    .parallelize(List.of(1, 2, 3, 4, 5, 6), 3)
                    .mapToPair(i -> new Tuple2<>(i % 2, i))
                    .reduceByKey((a, b) -> a + b, 2)
                    .sortByKey()
                    .collect();
            System.out.println("SUMS " + sums);
            System.out.println("RESOLVER " + SparkEnv.get().shuffleManager().shuffleBlockResolver().getClass().getName());
            context.sc().listenerBus().waitUntilEmpty(30_000);
            HttpRequest request =
                HttpRequest.newBuilder(URI.create(context.sc().uiWebUrl().get() + "/sluice/"))
                    .timeout(Duration.ofSeconds(30))
                    .build();
            HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body()
                .lines()
                .filter(line -> line.contains("<strong>off:"))
                .forEach(line -> System.out.println("TAB " + line));
          }
        }
      }
      """;

  @TempDir private Path dir;

  @BeforeEach
  void compile() throws IOException {
    SmallProgram.compile(PROGRAM, dir);
  }

  @Test
  void aNewerSparkUsesTheStockShuffleWithAReason() throws Exception {
    assumeTrue(
        package$.MODULE$.SPARK_VERSION().startsWith("4."), "another build's Spark is made newer");
    Files.writeString(
        dir.resolve("spark-version-info.properties"),
        "version=4.9.0\nuser=\nrevision=\nbranch=\ndate=\nurl=\ndocroot=\n");
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    String spark = SparkJars.onJava25();
    String reason = "for Spark 4.0 to 4.2, and this is Spark 4.9.0";

    assertStock(run(java, spark, "auto"), reason);
    assertRefused(run(java, spark, "soft"), reason);
  }

  @Test
  void anOlderJvmUsesTheStockShuffleWithAReason() throws Exception {
    assumeTrue(package$.MODULE$.SPARK_VERSION().startsWith("4."), "the older Spark comes first");
    Path java = OtherJava.home(17).resolve("bin/java");
    String spark = SparkJars.asReleased();
    String reason = "RDMA shuffle needs Java 21, this JVM is Java 17";

    assertStock(run(java, spark, "auto"), reason);
    assertRefused(run(java, spark, "soft"), reason);
  }

  /**
   * Hadoop's look-up of the user fails on Java 25. The driver of Spark 4.1 does without it, but its
   * executors do not.
   */
  @Test
  void hadoopAsReleasedWithSpark41RunsInLocalModeOnJava25() throws Exception {
    assumeTrue(
        package$.MODULE$.SPARK_VERSION().startsWith("4.1."), "tried by bin/test --spark 4.1");
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");

    assertThat(run(java, SparkJars.asReleased(), "soft"))
        .contains("SUMS [(0,12), (1,9)]", "RESOLVER dev.sluice.spark.");
  }

  @Test
  void anOlderSparkUsesTheStockShuffleWithAReason() throws Exception {
    String version = package$.MODULE$.SPARK_VERSION();
    assumeTrue(version.startsWith("3."), "tried by bin/test --spark 3.5");
    Path java = OtherJava.home(17).resolve("bin/java");
    String spark = SparkJars.asReleased();
    String reason = "for Spark 4.0 to 4.2, and this is Spark " + version;

    assertStock(run(java, spark, "auto"), reason);
    assertRefused(run(java, spark, "verbs"), reason);
  }

  private static void assertStock(String output, String reason) {
    assertThat(output)
        .contains(
            "SUMS [(0,12), (1,9)]",
            "RESOLVER org.apache.spark.shuffle.IndexShuffleBlockResolver",
            "Using Spark's stock shuffle: ");
    assertThat(output.lines().filter(line -> line.contains("WARN") && line.contains(reason)))
        .hasSize(1);
    assertThat(output.lines().filter(line -> line.startsWith("TAB ") && line.contains(reason)))
        .hasSize(package$.MODULE$.SPARK_VERSION().startsWith("3.") ? 0 : 1);
  }

  private static void assertRefused(String output, String reason) {
    assertThat(output)
        .contains("IllegalStateException", reason, "spark.shuffle.rdma.provider is \"")
        .doesNotContain("SUMS");
  }

  /** The program's directory comes first on the class path, so its version file hides Spark's. */
  private String run(Path java, String spark, String provider)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(java.toString()));
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptions().split(" ")));
    command.addAll(
        List.of(
            "-cp",
            String.join(
                File.pathSeparator, dir.toString(), spark, System.getProperty("sluice.jar")),
            "Program",
            provider));
    Path output = dir.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().keySet().removeIf(key -> key.startsWith("SPARK_"));
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    Process process = builder.start();
    try {
      assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
      return Files.readString(output);
    } finally {
      process.destroyForcibly();
    }
  }
}
