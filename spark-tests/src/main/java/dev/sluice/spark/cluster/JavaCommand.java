package dev.sluice.spark.cluster;

import java.nio.file.Path;
import java.util.List;

/**
 * A main class to run in a JVM of its own.
 *
 * @param classPath beside Spark's jars
 * @param options of the JVM, beside those that Spark wants
 */
record JavaCommand(
    List<Path> classPath, List<String> options, String mainClass, List<String> arguments) {}
