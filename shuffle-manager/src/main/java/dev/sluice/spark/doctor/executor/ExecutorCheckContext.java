// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor.executor;

import dev.sluice.doctor.check.CheckContext;
import dev.sluice.doctor.check.SparkSettings;
import dev.sluice.spark.conf.SluiceConf;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import scala.Tuple2;

/**
 * Describes this executor to the checks, as it is configured. {@link ExecutorDoctor} and {@link
 * ExecutorMeshNode} call it on an executor, on threads of the doctor's tasks. It opens nothing.
 */
final class ExecutorCheckContext {
  private ExecutorCheckContext() {}

  static CheckContext of(SparkEnv env, SluiceConf conf) throws IOException {
    return new CheckContext(
        Path.of("/"),
        InetAddress.getByName(host(env)),
        new CheckContext.Rdma(
            conf.provider(), conf.verbsOptions(), conf.softOptions(), conf.transferOptions()),
        new CheckContext.Memory(conf.budget(), conf.registrationMode(), localDirectories(env)),
        new CheckContext.Spark(classPath(), settings(env), conf, Optional.empty()));
  }

  /** Returns the host name by which other executors reach this one. */
  static String host(SparkEnv env) {
    return env.blockManager().blockManagerId().host();
  }

  private static List<Path> localDirectories(SparkEnv env) {
    return Arrays.stream(env.blockManager().diskBlockManager().localDirs())
        .map(File::toPath)
        .toList();
  }

  private static SparkSettings settings(SparkEnv env) {
    return new SparkSettings(
        "the application",
        Stream.of(env.conf().getAll()).collect(Collectors.toMap(Tuple2::_1, Tuple2::_2)));
  }

  private static List<Path> classPath() {
    String[] entries = System.getProperty("java.class.path").split(File.pathSeparator);
    return Arrays.stream(entries).filter(entry -> !entry.isEmpty()).map(Path::of).toList();
  }
}
