// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.spark.account.Totals;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.scenarios.LocalCluster;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * Executors of a standalone cluster start from an AOT cache and from an archive of classes, as
 * docs/tuning.md has it. The test runs the commands of that document, with the settings there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 10, unit = TimeUnit.MINUTES)
final class AotCacheLongIT {
  /** Commands that make the file, and settings that use it. */
  private static final Pattern RECIPE =
      Pattern.compile(
          "<!-- run by: AotCacheLongIT -->\n```\n(.+?)```\n\n```\n(.+?)```", Pattern.DOTALL);

  /** Starts the JVM as bin/spark-class of a Spark distribution, which is not in Spark's jars. */
  private static final String SPARK_SUBMIT =
      """
      #!/usr/bin/env bash
      set -e
      "$JAVA_HOME/bin/java" -cp "$SPARK_HOME/jars/*" org.apache.spark.launcher.Main \
          org.apache.spark.deploy.SparkSubmit "$@" >command
      mapfile -d '' -t command < <(tail -n +2 command) # The first line is a mark.
      exec "${command[@]}"
      """;

  private static final String CONF_DIR = "spark.executorEnv.SPARK_CONF_DIR";
  private static final String FROM_FILE = "shared objects file";

  private final Deployment deployment = Deployment.start("aot-cache");
  private final Path home = deployment.home().directory();

  AotCacheLongIT() throws IOException, InterruptedException {}

  @BeforeAll
  void completeSpark() throws IOException {
    Path submit = Files.createDirectories(home.resolve("bin")).resolve("spark-submit");
    Files.writeString(submit, SPARK_SUBMIT);
    Files.setPosixFilePermissions(submit, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.createFile(Files.createDirectories(home.resolve("conf")).resolve("spark-env.sh"));
  }

  @AfterAll
  void stop() {
    deployment.close();
  }

  @Test
  void executorsTakeTheirClassesFromAnAotCache() throws Exception {
    assumeTrue(Runtime.version().feature() >= 25, "JDK 25 brings the option");
    assertTakenFrom("AOTCacheOutput", "AOTCache");
  }

  @Test
  void executorsTakeTheirClassesFromAnArchive() throws Exception {
    assertTakenFrom("ArchiveClassesAtExit", "SharedArchiveFile");
  }

  /**
   * @param writing option of the JVM that writes the file
   * @param using option of the JVMs that use it
   */
  private void assertTakenFrom(String writing, String using) throws Exception {
    Path directory = deployment.directory(using);
    Matcher recipe = recipe(directory, writing, using);
    train(directory, recipe.group(1));
    Map<String, String> settings = settings(recipe.group(2));

    Result fits = submit("fits-" + using, settings);
    assertThat(source(fits, SparkEnv.class.getName())).startsWith(FROM_FILE);
    assertThat(source(fits, RdmaShuffleManager.class.getName())).startsWith(FROM_FILE);

    settings.remove(CONF_DIR); // The folder on the class path is then the one with spark-env.sh.
    Result misfit = submit("does-not-fit-" + using, settings);
    assertThat(source(misfit, SparkEnv.class.getName())).doesNotContain(FROM_FILE);
  }

  private static Matcher recipe(Path directory, String writing, String using) throws IOException {
    String document =
        Files.readString(DropInJar.project().resolve("docs/tuning.md"))
            .replace("/opt/aot", directory.toString())
            .replace("/opt/sluice.jar", DropInJar.path().toString())
            .replace("OPTIONS", System.getProperty("sluice.executor.options"))
            .replace("AOTCacheOutput=", writing + "=")
            .replace("AOTCache=", using + "=");
    Matcher recipe = RECIPE.matcher(document);
    assertThat(recipe.find()).isTrue();
    return recipe;
  }

  private void train(Path directory, String commands) throws IOException, InterruptedException {
    String job =
        "--conf spark.shuffle.rdma.provider=soft --conf spark.ui.enabled=false --class %s %s %s"
            .formatted(
                ShuffleApplication.class.getName(),
                deployment.application(),
                ShuffleApplication.SHUFFLE);
    Path log = directory.resolve("training.log");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-ec", commands.replace(" ...", " " + job))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(key -> key.startsWith("SPARK_"));
    environment.putAll(deployment.home().environment());
    environment.put("PATH", home.resolve("bin") + ":" + System.getenv("PATH"));
    Process process = builder.start();
    try {
      assertThat(process.waitFor()).as("%s", log).isZero();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Round.of(Files.readString(log))).singleElement().matches(Round::right);
  }

  private static Map<String, String> settings(String text) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(text));
    Map<String, String> settings = new LinkedHashMap<>();
    properties.stringPropertyNames().forEach(key -> settings.put(key, properties.getProperty(key)));
    settings.merge(
        LocalCluster.EXECUTOR_OPTIONS, "-Xlog:class+load", (all, more) -> all + " " + more);
    return settings;
  }

  private Result submit(String name, Map<String, String> settings)
      throws IOException, InterruptedException {
    Result result = deployment.submitWithClassPath(name, settings, ShuffleApplication.SHUFFLE);
    assertThat(result.exitCode()).as(result.end()).isZero();
    assertThat(result.rounds()).singleElement().matches(Round::right);
    Totals totals = result.rounds().getFirst().totals();
    assertThat(totals.fallbackByReason()).isEmpty();
    assertThat(totals.read()).isPositive();
    return result;
  }

  /** Returns where the first executor found a class, in the words of its JVM. */
  private String source(Result result, String name) throws IOException {
    Path output = deployment.workOf(0).resolve(result.applicationId()).resolve("0/stdout");
    Matcher loaded =
        Pattern.compile(" " + Pattern.quote(name) + " source: (.+)")
            .matcher(Files.readString(output));
    assertThat(loaded.find()).as("%s in %s", name, output).isTrue();
    return loaded.group(1);
  }
}
