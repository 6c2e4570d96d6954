// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import dev.sluice.spark.cluster.StandaloneCluster.Submission;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;

/**
 * A directory that serves as SPARK_HOME. Its jars/ holds links to Spark and Spark's dependencies,
 * and no jars of Sluice. Tests create it; {@link StandaloneCluster} and {@link SparkProcess} start
 * processes on it. Immutable; any thread. The directory stays in the build directory after use.
 *
 * @param directory holds jars/
 * @param java JAVA_HOME of the processes
 */
public record SparkHome(Path directory, Path java) {
  /** JVM options for processes that live for seconds, several at once: C2 would never pay off. */
  public static final List<String> SHORT_LIVED =
      List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  /**
   * Links the jars that are not linked yet.
   *
   * @param classPath Spark's jars, separated as in a class path
   */
  public static SparkHome create(Path directory, String classPath) throws IOException {
    Path jars = Files.createDirectories(directory.resolve("jars"));
    for (String entry : classPath.strip().split(File.pathSeparator)) {
      Path jar = Path.of(entry);
      Path link = jars.resolve(jar.getFileName());
      if (Files.notExists(link, LinkOption.NOFOLLOW_LINKS)) {
        Files.createSymbolicLink(link, jar);
      }
    }
    return new SparkHome(directory, Path.of(System.getProperty("java.home")));
  }

  /** Returns the same Spark on another JVM. */
  public SparkHome onJava(Path home) {
    return new SparkHome(directory, home);
  }

  /** Returns the command line with the JVM options that Spark requires. */
  List<String> commandLine(JavaCommand command) {
    List<String> line = new ArrayList<>();
    line.add(java.resolve("bin").resolve("java").toString());
    line.addAll(List.of(JavaModuleOptions.defaultModuleOptions().split(" ")));
    line.addAll(SHORT_LIVED);
    line.addAll(command.options());
    line.addAll(List.of("-cp", classPath(command), command.mainClass()));
    line.addAll(command.arguments());
    return line;
  }

  /** Returns the class path. As with Spark's own launcher, extra entries precede Spark's jars. */
  private String classPath(JavaCommand command) {
    Path sparkJars = directory.resolve("jars").resolve("*");
    return Stream.concat(command.classPath().stream(), Stream.of(sparkJars))
        .map(Path::toString)
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Returns the environment variables that Spark's processes need. */
  public Map<String, String> environment() {
    return Map.of(
        "SPARK_HOME",
        directory.toString(),
        "JAVA_HOME",
        java.toString(),
        // Otherwise the Worker looks for the build directories of a source tree.
        "SPARK_SCALA_VERSION",
        "2.13",
        "SPARK_LOCAL_IP",
        "127.0.0.1");
  }

  /**
   * A main class to run in a JVM of its own. {@link StandaloneCluster} makes it for Spark's Master,
   * Worker and history server, {@link Submission} for SparkSubmit. A {@link SparkProcess} starts
   * it, by the command line that {@link SparkHome} makes of it. Immutable; any thread.
   *
   * @param classPath entries that precede Spark's jars
   * @param options JVM options, in addition to those that Spark requires
   */
  record JavaCommand(
      List<Path> classPath, List<String> options, String mainClass, List<String> arguments) {}
}
