// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.disk;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.CpuTime;
import dev.sluice.benchmarks.disk.SickFile.Illness;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.StoredFile;
import dev.sluice.rdma.file.DiskFile;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Three endpoints of the software provider in this process: a server of files, a peer that READs
 * them and has a file of its own, and another peer that READs the server's sick file. {@link
 * DiskCommand} creates it, measures on one thread, and closes it. Each measurement registers its
 * regions anew; the flows have to end before their regions close.
 */
final class DiskPeers implements AutoCloseable {
  private static final String SERVER = "server";
  private static final String PEER = "peer";
  private static final String OTHER = "other";

  private static final int FILE_BYTES = 1 << 20;
  private static final int READ_BYTES = 64 << 10;
  private static final TransferOptions OPTIONS =
      TransferOptions.DEFAULT.with(o -> o.bufferPoolBytes = 64 << 20);

  /** Time for the READs to begin, which is not measured. */
  private static final long BEGIN_MS = 300;

  /** Longer than the wait for a hanging disk ({@code SoftOptions.maxDiskReadMs}). */
  private static final long SICK_MS = 4_000;

  private static final long PAGES_MS = 1_000;

  private final Path file;
  private final Map<String, RdmaEndpoint> endpoints = new TreeMap<>();

  /**
   * @param directory directory of a file, which the caller deletes
   */
  DiskPeers(Path directory) throws IOException {
    byte[] bytes = new byte[FILE_BYTES];
    new Random(7).nextBytes(bytes);
    file = Files.write(directory.resolve("data"), bytes); // and into the page cache
    for (String name : new String[] {SERVER, PEER, OTHER}) {
      SoftProvider provider = new SoftProvider(SoftOptions.DEFAULT);
      endpoints.put(
          name,
          RdmaEndpoint.open(
              provider.open(InetAddress.getLoopbackAddress()), OPTIONS, new Connector(name)));
    }
  }

  private RdmaEndpoint endpoint(String name) {
    return requireNonNull(endpoints.get(name));
  }

  /** Exchanges queue pairs within this process. */
  private final class Connector implements QueuePairConnector {
    private final String self;

    Connector(String self) {
      this.self = self;
    }

    @Override
    public CompletableFuture<QueuePairAddress> exchange(
        PeerAddress peer, String providerName, QueuePairAddress local) {
      return endpoint(peer.id()).accept(self, local);
    }

    @Override
    public void released(PeerAddress peer, int localQpNumber) {
      endpoint(peer.id()).disconnected(self, localQpNumber);
    }
  }

  /**
   * READs of healthy files in a second.
   *
   * @param otherFiles READs by the peer from the server
   * @param otherDirection READs by the server from the peer
   */
  record Rates(double otherFiles, double otherDirection) {}

  /**
   * Measures READs of healthy files, both ways at the same time.
   *
   * @param illness illness of the disk of another file of the server, which is READ at the same
   *     time; null for no such file
   */
  Rates measure(@Nullable Illness illness) throws IOException, InterruptedException {
    try (MemoryRegion served = register(SERVER, DiskFile.open(file));
        MemoryRegion own = register(PEER, DiskFile.open(file));
        ReadFlow files = flow(PEER, SERVER, served, READ_BYTES);
        ReadFlow direction = flow(SERVER, PEER, own, READ_BYTES)) {
      return illness == null
          ? rates(files, direction)
          : ratesBeside(new SickFile(file, illness), files, direction);
    }
  }

  private Rates ratesBeside(SickFile sick, ReadFlow files, ReadFlow direction)
      throws IOException, InterruptedException {
    try (MemoryRegion region = register(SERVER, sick);
        ReadFlow _ = flow(OTHER, SERVER, region, READ_BYTES)) {
      try {
        return rates(files, direction);
      } finally {
        sick.heal(); // otherwise closing the flow waits for the disk
      }
    }
  }

  private static Rates rates(ReadFlow files, ReadFlow direction)
      throws IOException, InterruptedException {
    Thread.sleep(BEGIN_MS);
    long start = System.nanoTime();
    long filesBefore = files.succeeded();
    long directionBefore = direction.succeeded();
    Thread.sleep(SICK_MS);
    double seconds = (System.nanoTime() - start) / 1e9;
    Rates rates =
        new Rates(
            (files.succeeded() - filesBefore) / seconds,
            (direction.succeeded() - directionBefore) / seconds);
    requireAll(files);
    requireAll(direction);
    return rates;
  }

  private static void requireAll(ReadFlow flow) throws IOException {
    if (flow.failed() > 0) {
      throw new IOException(flow.failed() + " READs of a healthy file have failed");
    }
  }

  /**
   * Measures the CPU microseconds of both sides for a READ of cached bytes.
   *
   * @param bytes bytes of a READ: more than 32 KiB, for which the server asks the kernel
   * @param asked false for a file that claims that all its bytes are cached
   */
  double cpuMicros(int bytes, boolean asked) throws IOException, InterruptedException {
    try (MemoryRegion served =
            register(SERVER, asked ? DiskFile.open(file) : new CachedFile(file));
        ReadFlow flow = flow(PEER, SERVER, served, bytes)) {
      Thread.sleep(BEGIN_MS);
      long cpu = CpuTime.ofProcess();
      long before = flow.succeeded();
      Thread.sleep(PAGES_MS);
      double micros = (CpuTime.ofProcess() - cpu) / 1e3 / (flow.succeeded() - before);
      requireAll(flow);
      return micros;
    }
  }

  /** A file that claims to be cached. */
  private static final class CachedFile extends DiskFile {
    CachedFile(Path path) throws IOException {
      super(new RandomAccessFile(path.toFile(), "r"));
    }

    @Override
    public int cachedBytes(long position, int bytes) {
      return bytes;
    }
  }

  private MemoryRegion register(String name, StoredFile stored) throws VerbsException {
    return endpoint(name).protectionDomain().registerFile(stored, FILE_BYTES);
  }

  private ReadFlow flow(String reader, String peer, MemoryRegion region, int bytes)
      throws IOException, InterruptedException {
    return new ReadFlow(
        endpoint(reader),
        new PeerAddress(peer, "localhost", 1),
        new RemoteRegion(region.address(), bytes, region.rkey()));
  }

  @Override
  public void close() {
    endpoints.values().forEach(RdmaEndpoint::close);
  }
}
