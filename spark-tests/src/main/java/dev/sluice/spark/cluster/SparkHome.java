package dev.sluice.spark.cluster;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;

/**
 * A directory that serves as SPARK_HOME: jars/ holds links to Spark and what it needs, and nothing
 * of ours. Immutable; left to the build directory when done.
 *
 * @param directory holds jars/ and, later, Spark's work/
 * @param more what its processes have on their class path beside Spark's jars
 */
public record SparkHome(Path directory, List<Path> more) {

  /**
   * Links the jars, where that was not done before.
   *
   * @param classPath Spark's jars, separated as in a class path
   */
  public static SparkHome create(Path directory, String classPath) throws IOException {
    Path jars = Files.createDirectories(directory.resolve("jars"));
    for (String entry : classPath.strip().split(File.pathSeparator)) {
      Path jar = Path.of(entry);
      try {
        Files.createSymbolicLink(jars.resolve(jar.getFileName()), jar);
      } catch (FileAlreadyExistsException linked) {
        continue;
      }
    }
    return new SparkHome(directory, List.of());
  }

  SparkHome with(List<Path> classPath) {
    return new SparkHome(directory, List.copyOf(classPath));
  }

  /** The command of one of Spark's classes in a JVM of its own, with the options Spark wants. */
  List<String> command(List<String> jvmOptions, String mainClass, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptions().split(" ")));
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", classPath(), mainClass));
    command.addAll(arguments);
    return command;
  }

  private String classPath() {
    return Stream.concat(Stream.of(directory.resolve("jars").resolve("*")), more.stream())
        .map(Path::toString)
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** What Spark's processes need in their environment. */
  Map<String, String> environment() {
    return Map.of(
        "SPARK_HOME",
        directory.toString(),
        "JAVA_HOME",
        System.getProperty("java.home"),
        // Else the Worker looks for the build directories of a source tree.
        "SPARK_SCALA_VERSION",
        "2.13",
        "SPARK_LOCAL_IP",
        "127.0.0.1");
  }
}
