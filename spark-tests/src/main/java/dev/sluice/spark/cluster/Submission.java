// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * An application for SparkSubmit, in client mode. Tests make it, {@link StandaloneCluster} starts
 * it. Immutable. Further jars come by --jars or by class path, which end up in two different class
 * loaders.
 *
 * @param mainClass a class of {@code jar}
 * @param conf Spark's configuration
 * @param jars jars that Spark distributes to driver and executors (--jars)
 * @param classPath entries that precede Spark's jars on driver and executors
 */
public record Submission(
    String mainClass,
    Path jar,
    List<String> arguments,
    Map<String, String> conf,
    List<Path> jars,
    List<Path> classPath) {

  JavaCommand command(String masterUrl) {
    List<String> submit = new ArrayList<>(List.of("--master", masterUrl, "--class", mainClass));
    Map<String, String> settings = new TreeMap<>(conf);
    if (!classPath.isEmpty()) {
      settings.put("spark.executor.extraClassPath", join(classPath, ":"));
    }
    settings.forEach((key, value) -> submit.addAll(List.of("--conf", key + "=" + value)));
    if (!jars.isEmpty()) {
      submit.addAll(List.of("--jars", join(jars, ",")));
    }
    submit.add(jar.toString());
    submit.addAll(arguments);
    // SparkSubmit is started directly, and a running JVM ignores --driver-class-path.
    return new JavaCommand(classPath, List.of(), "org.apache.spark.deploy.SparkSubmit", submit);
  }

  private static String join(List<Path> paths, String separator) {
    return paths.stream().map(Path::toString).collect(Collectors.joining(separator));
  }
}
