// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import java.nio.file.Path;
import java.util.List;

/**
 * A main class to run in a JVM of its own. {@link StandaloneCluster} makes it for Spark's Master,
 * Worker and history server, {@link Submission} for SparkSubmit. A {@link SparkProcess} starts it,
 * by the command line that {@link SparkHome} makes of it. Immutable; any thread.
 *
 * @param classPath entries that precede Spark's jars
 * @param options JVM options, in addition to those that Spark requires
 */
record JavaCommand(
    List<Path> classPath, List<String> options, String mainClass, List<String> arguments) {}
