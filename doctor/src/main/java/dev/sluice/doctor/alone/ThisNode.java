// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorMemory;
import dev.sluice.doctor.Options;
import dev.sluice.doctor.check.CheckContext;
import dev.sluice.doctor.check.Installation;
import dev.sluice.doctor.check.SparkHome;
import dev.sluice.doctor.check.SparkSettings;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Describes this node to the checks, for an executor with the settings that spark-submit finds
 * here. {@link CommandLine} calls it, with a time limit, on a thread that it leaves behind if the
 * call hangs. It opens no device and has no state.
 */
final class ThisNode {
  private static final Path ROOT = Path.of("/");

  private ThisNode() {}

  /** Returns Spark's settings on this node, as spark-submit reads them. */
  static SparkSettings settings(Options options) throws IOException {
    return SparkSettings.read(
        options.propertiesFile().or(() -> SparkSettings.file(System.getenv())), options.settings());
  }

  static CheckContext context(Options options, SparkSettings settings) throws IOException {
    Map<String, String> accepted = settings.accepted().values();
    ExecutorConf conf =
        new ExecutorConf(
            accepted::get,
            new ExecutorConf.Jvm(ExecutorMemory.heap(accepted::get), ROOT, System.getenv()));
    return new CheckContext(
        ROOT,
        address(),
        new CheckContext.Rdma(
            provider(options, conf),
            conf.verbsOptions(),
            SoftOptions.DEFAULT,
            conf.transferOptions()),
        new CheckContext.Memory(
            conf.budget(),
            conf.registrationMode(),
            options.localDirectories(settings.get("spark.local.dir").orElse(""))),
        new CheckContext.Spark(sparkJars(), settings, conf, Installation.ownJar()));
  }

  /** Returns the provider to check. Where blocks are not READ at all, it is that of the default. */
  private static String provider(Options options, ExecutorConf conf) {
    return options
        .provider()
        .orElseGet(() -> conf.provider().equals("off") ? "auto" : conf.provider());
  }

  /** Returns the address that Spark would take. */
  private static InetAddress address() throws IOException {
    String given = System.getenv().getOrDefault("SPARK_LOCAL_IP", "");
    return given.isEmpty() ? InetAddress.getLocalHost() : InetAddress.getByName(given);
  }

  private static List<Path> sparkJars() throws IOException {
    Optional<Path> jars =
        SparkHome.of(System.getenv()).map(home -> home.resolve("jars")).filter(Files::isDirectory);
    if (jars.isEmpty()) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(jars.get())) {
      return files.toList();
    }
  }
}
