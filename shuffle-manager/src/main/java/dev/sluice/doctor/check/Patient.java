package dev.sluice.doctor.check;

import dev.sluice.blocks.RegistrationMode;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.spark.conf.MemoryBudget;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * What is looked at: this node, and what an executor on it would run with.
 *
 * @param root {@code /}, or a directory that stands for it
 * @param address by which peers reach this process
 * @param jars Spark's, and what comes with it; empty where it is not known where they are
 */
public record Patient(Path root, InetAddress address, Rdma rdma, Memory memory, List<Path> jars) {

  /**
   * How blocks are READ.
   *
   * @param provider {@code auto}, {@code verbs} or {@code soft}
   */
  public record Rdma(
      String provider, VerbsOptions verbs, SoftOptions soft, TransferOptions transfer) {
    /** Whether RDMA devices matter at all. */
    boolean triesVerbs() {
      return !provider.equals(SoftProvider.NAME);
    }
  }

  /**
   * What is registered.
   *
   * @param localDirectories where map outputs lie
   */
  public record Memory(MemoryBudget budget, RegistrationMode mode, List<Path> localDirectories) {}

  /** The device that an executor would open, which the caller closes. */
  public Device open() throws IOException {
    return Providers.open(rdma.provider(), address, rdma.verbs(), rdma.soft());
  }
}
