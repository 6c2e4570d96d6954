// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.testkit.ContainerDirectories;
import dev.sluice.testkit.OtherUser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The node daemon runs as one user, and an application's driver and executors as another one, in
 * directories that have the owners and permissions of YARN's LinuxContainerExecutor. Runs as root.
 */
final class OtherUserIT {
  private static final long TIMEOUT_S = 240;
  private static final String EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath";

  @TempDir private Path directory;
  private ContainerDirectories directories;
  private Path own;

  @BeforeEach
  void makeDirectories() throws Exception {
    String reason = OtherUser.reasonAgainst(directory);
    assumeTrue(reason.isEmpty(), reason);
    directories = ContainerDirectories.make(directory);
    own = OtherUser.OWNER.makeDirectory(directory.resolve("own"), OtherUser.OWNER, "0755");
    OtherUser.OWNER.makeDirectory(own.resolve("home"), OtherUser.OWNER, "0755");
  }

  @Test
  void mapOutputsOfKilledExecutorsAreReadFromTheDaemon() throws Exception {
    try (NodeProcess node =
        NodeProcess.in(directory)
            .set("sluice.node.directories", directories.local())
            .set("sluice.node.socket", NodeProcess.socket(directories.local()))
            .set("sluice.node.otherUsers", true)
            .withJars(directories.classPath())
            .by(OtherUser.MANAGER.launcher())
            .start()) {
      Path log = directory.resolve("application.log");
      Process driver = start(log, Killed.class);
      assertThat(driver.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
      assertThat(driver.exitValue()).as("%s%n%s", Files.readString(log), node.output()).isZero();
    }
  }

  private Process start(Path log, Class<?> main) throws Exception {
    List<String> command = new ArrayList<>(OtherUser.OWNER.launcher());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
    command.addAll(List.of("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    properties().forEach((key, value) -> command.add("-D%s=%s".formatted(key, value)));
    command.addAll(List.of("-cp", directories.classPath(), main.getName()));
    command.add(NodeProcess.socket(directories.local()).toString());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(own.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    Map<String, String> environment = builder.environment();
    environment.put("SPARK_HOME", own.resolve("home").toString());
    environment.put("SPARK_DIST_CLASSPATH", directories.classPath());
    // Spark then takes its local directories from YARN.
    environment.put("CONTAINER_ID", "container_1_1_1_1");
    environment.put("LOCAL_DIRS", directories.application().toString());
    return builder.start();
  }

  private Map<String, String> properties() {
    String options = "-Djava.io.tmpdir=%1$s -Dsluice.target=%1$s".formatted(own);
    return Map.of(
        "java.io.tmpdir",
        own.toString(),
        "user.home",
        own.toString(),
        "sluice.target",
        own.toString(),
        "log4j.configurationFile",
        System.getProperty("log4j.configurationFile"),
        "spark.testing",
        "true",
        "spark.test.home",
        own.resolve("home").toString(),
        "spark.shuffle.manager",
        System.getProperty("spark.shuffle.manager"),
        LocalCluster.EXECUTOR_OPTIONS,
        options + " -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        EXECUTOR_CLASS_PATH,
        directories.classPath());
  }

  /** Driver that shuffles, kills its executors, and shuffles what they left. */
  static final class Killed {
    public static void main(String[] arguments) throws Exception {
      try (LocalCluster cluster =
          LocalCluster.start(
              "spark.shuffle.rdma.node", "on",
              "spark.shuffle.rdma.node.socket", arguments[0],
              "spark.shuffle.rdma.node.user", OtherUser.MANAGER.name(),
              "spark.authenticate", "true",
              "spark.authenticate.secret", "of the application")) {
        JavaPairRDD<Integer, byte[]> shuffled = NodeIT.written(cluster);
        assertThat(cluster.totals().of("node.taken")).isEqualTo(NodeIT.DATA.maps());
        NodeIT.kill(cluster, cluster.executors());
        NodeIT.assertReadAgain(cluster, shuffled);
      }
    }
  }
}
