// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.start;

import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Installation;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.SparkJvm;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the file of a {@link ClassCache} as docs/tuning.md says: {@link StartJob} in one JVM, which
 * Spark's launcher gives the class path of executors. {@link StartCommand} calls it on its thread,
 * before the rounds.
 */
final class Training {
  private Training() {}

  /**
   * Runs to the end of the JVM, which has then written the file.
   *
   * @param directory gets the log and, as in a driver's directory, SPARK_HOME
   * @param option writes the file
   */
  static void run(Path directory, Shuffle shuffle, String option)
      throws IOException, InterruptedException {
    Path log = Files.createDirectories(directory).resolve("training.log");
    ProcessBuilder builder =
        new SparkJvm(directory.resolve("spark"), List.of(), List.of())
            .running("org.apache.spark.launcher.Main", arguments(directory, shuffle, option))
            .redirectError(Redirect.appendTo(log.toFile()));
    Process launcher = builder.start();
    String command = new String(launcher.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    // The first line is a mark.
    builder.command(command.substring(command.indexOf('\n') + 1).split("\0"));
    int status = builder.redirectOutput(Redirect.appendTo(log.toFile())).start().waitFor();
    if (status != 0) {
      AnsweringProcess.awaitOwnEnd();
      throw new IOException(
          "%s: the training ended with status %d; see %s".formatted(shuffle.label(), status, log));
    }
  }

  private static List<String> arguments(Path directory, Shuffle shuffle, String option) {
    Installation installation = Installation.fromEnvironment();
    List<String> submit = new ArrayList<>(List.of("org.apache.spark.deploy.SparkSubmit"));
    submit.addAll(List.of("--master", "local[2]", "--driver-java-options", option));
    set(submit, "spark.local.dir=" + directory.resolve("local"));
    set(submit, "spark.ui.enabled=false");
    set(submit, "spark.serializer=org.apache.spark.serializer.KryoSerializer");
    if (shuffle == Shuffle.SLUICE) {
      submit.addAll(List.of("--driver-class-path", installation.sluiceJar().toString()));
      set(submit, "spark.shuffle.manager=dev.sluice.spark.RdmaShuffleManager");
      set(submit, "spark.shuffle.rdma.testing.loopback=true");
    }
    submit.addAll(
        List.of(
            "--class",
            StartJob.class.getName(),
            installation.programJar().toString(),
            directory.resolve("result.json").toString()));
    return submit;
  }

  private static void set(List<String> submit, String setting) {
    submit.addAll(List.of("--conf", setting));
  }
}
