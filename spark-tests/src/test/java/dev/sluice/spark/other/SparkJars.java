// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.other;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The jars in the folder jars of a Spark distribution of the version under test. */
public final class SparkJars {
  private static final Path TARGET = Path.of(System.getProperty("sluice.target"));
  private static final String HADOOP = "hadoop-client-";

  private SparkJars() {}

  /** Class path with Hadoop's jars replaced, as users of JDK 25 replace them. */
  public static String onJava25() throws IOException {
    return Files.readString(TARGET.resolve("spark-class-path.txt")).strip();
  }

  /** The two replacement jars. */
  public static List<Path> hadoopOnJava25() throws IOException {
    return split().map(Path::of).filter(SparkJars::isHadoop).toList();
  }

  /** Class path with Hadoop's jars as that Spark ships them. */
  public static String asReleased() throws IOException {
    try (Stream<Path> hadoop = Files.list(TARGET.resolve("spark-hadoop"))) {
      return Stream.concat(
              hadoop.map(Path::toString), split().filter(jar -> !isHadoop(Path.of(jar))))
          .collect(Collectors.joining(File.pathSeparator));
    }
  }

  private static Stream<String> split() throws IOException {
    return Arrays.stream(onJava25().split(File.pathSeparator));
  }

  private static boolean isHadoop(Path jar) {
    return jar.getFileName().toString().startsWith(HADOOP);
  }
}
