// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

import dev.sluice.blocks.conf.Cgroup;
import dev.sluice.blocks.conf.EnvironmentHints;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.doctor.Options;
import dev.sluice.doctor.check.CheckContext;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Describes this node to the checks, for an executor with the defaults of Spark and of Sluice.
 * {@link CommandLine} calls it once, with a time limit, on a thread that it leaves behind if the
 * call hangs. It opens no device and has no state.
 */
final class ThisNode {
  private static final Path ROOT = Path.of("/");

  private ThisNode() {}

  static CheckContext context(Options options) throws IOException {
    MemoryBudget budget =
        MemoryBudget.derive(
            MemoryBudget.Grant.LEAST, MemoryBudget.DEFAULT_SHARE, new Cgroup(ROOT).memoryMax());
    TransferOptions transfer =
        TransferOptions.DEFAULT.with(o -> o.bufferPoolBytes = budget.bufferBytes());
    VerbsOptions verbs =
        EnvironmentHints.verbsOptions(System.getenv())
            .with(o -> o.registeredBytes = budget.lockedBytes() + transfer.queuePairBytes());
    return new CheckContext(
        ROOT,
        address(),
        new CheckContext.Rdma(options.provider(), verbs, SoftOptions.DEFAULT, transfer),
        new CheckContext.Memory(budget, RegistrationMode.AUTO, options.localDirectories()),
        sparkJars());
  }

  /** Returns the address that Spark would take. */
  private static InetAddress address() throws IOException {
    String given = System.getenv().getOrDefault("SPARK_LOCAL_IP", "");
    return given.isEmpty() ? InetAddress.getLocalHost() : InetAddress.getByName(given);
  }

  private static List<Path> sparkJars() throws IOException {
    Path jars = Path.of(System.getenv().getOrDefault("SPARK_HOME", "/nonexistent"), "jars");
    if (!Files.isDirectory(jars)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(jars)) {
      return files.toList();
    }
  }
}
