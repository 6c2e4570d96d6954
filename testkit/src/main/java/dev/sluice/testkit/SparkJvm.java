// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

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
 * A JVM with Spark's jars: a driver, a Master, a Worker or a node daemon. It only prepares the
 * process; its users ({@link DriverProcess}, {@link NodeProcess}, {@link NodeCluster}) start and
 * end it. Immutable.
 *
 * @param home its SPARK_HOME, which is created if missing
 * @param classPath entries before Spark's jars
 * @param options options of the JVM, in addition to Spark's own
 */
public record SparkJvm(Path home, List<Path> classPath, List<String> options) {

  /** Returns a builder that starts a main class, without variables of another Spark. */
  public ProcessBuilder running(String main, List<String> arguments) throws IOException {
    Path jars = Files.createDirectories(home).resolve("jars");
    if (Files.notExists(jars, LinkOption.NOFOLLOW_LINKS)) {
      Files.createSymbolicLink(jars, Installation.fromEnvironment().sparkJars());
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath(jars), main));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("SPARK_") || name.startsWith("HADOOP_"));
    environment.put("SPARK_HOME", home.toString());
    // Without it a Worker looks for the Scala version in a build directory and never starts.
    environment.put("SPARK_SCALA_VERSION", "2.13");
    environment.put("SPARK_LOCAL_IP", "127.0.0.1");
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    return builder;
  }

  private String classPath(Path jars) {
    return Stream.concat(classPath.stream(), Stream.of(jars.resolve("*")))
        .map(Path::toString)
        .collect(Collectors.joining(File.pathSeparator));
  }
}
