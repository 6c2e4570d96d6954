// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Subject of the checks: this node, and the options of an executor on it. {@code ThisNode} or
 * {@code ExecutorCheckContext} makes it; immutable, so checks share it.
 *
 * @param root {@code /}, or a directory in its place
 * @param address address by which peers reach this process
 */
public record CheckContext(Path root, InetAddress address, Rdma rdma, Memory memory, Spark spark) {

  /**
   * Options with which blocks are READ.
   *
   * @param provider {@code auto}, {@code verbs} or {@code soft}
   */
  public record Rdma(
      String provider, VerbsOptions verbs, SoftOptions soft, TransferOptions transfer) {
    /** Returns true if the provider may be verbs. */
    public boolean triesVerbs() {
      return !provider.equals(SoftProvider.NAME);
    }
  }

  /**
   * Options with which map outputs are registered.
   *
   * @param localDirectories directories of map outputs
   */
  public record Memory(MemoryBudget budget, RegistrationMode mode, List<Path> localDirectories) {}

  /**
   * Spark, as it is installed and configured.
   *
   * @param jars Spark's jars and their dependencies; empty if their place is not known
   * @param settings settings as they are, those that are refused included
   * @param conf configuration of an executor by settings that are not refused
   * @param ownJar drop-in jar that this doctor runs from; empty in a job, whose executors have one
   */
  public record Spark(
      List<Path> jars, SparkSettings settings, ExecutorConf conf, Optional<Path> ownJar) {}

  /** Opens the device that an executor would open. The caller closes it. */
  public Device open() throws IOException {
    return Providers.open(rdma.provider(), address, rdma.verbs(), rdma.soft());
  }
}
