// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * Tasks of several executors that let servers stage for them. Each has two requests at each server
 * outstanding, as far as the executor's quotas allow, and verifies the bytes before the next
 * request. A request follows a refusal or failure as well. A virtual thread makes each request and
 * the ones that follow it. {@link StageCommand} creates this load, which starts it, and closes it,
 * which waits for all requests.
 */
final class StageLoad implements AutoCloseable {
  /** Any id would do: each shuffle has the same files ({@link SampleOutputs}). */
  static final int SHUFFLE = 0;

  /** Outstanding requests of a task at a server. */
  private static final int UNDER_WAY = 2;

  private static final int CHUNK_BYTES = Stager.MAX_REQUEST_BYTES;

  /** Default of spark.shuffle.rdma.read.timeout. */
  private static final int TIMEOUT_MS = 30_000;

  private static final long PAUSE_AFTER_FAILURE_MS = 100;

  private final SampleOutputs outputs;
  private final long[][] checksums;
  private final Set<String> failures;
  private final Map<PeerAddress, AtomicLong> answers = new ConcurrentHashMap<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean stopped;

  /**
   * @param failures concurrent set to which causes of refused and failed requests are added
   */
  StageLoad(
      List<NetworkParts> readers,
      List<PeerAddress> servers,
      SampleOutputs outputs,
      long[][] checksums,
      Set<String> failures) {
    this.outputs = outputs;
    this.checksums = checksums;
    this.failures = failures;
    for (int i = 0; i < readers.size(); i++) {
      NetworkParts reader = readers.get(i);
      int first = i;
      // The same quota as in executors (RdmaBlockStoreClient).
      long pool = reader.endpoint().buffers().maxBytes();
      PeerQuota<PeerAddress> quota = new PeerQuota<>(pool / 2, pool / 8);
      for (int chain = 0; chain < UNDER_WAY * servers.size(); chain++) {
        PeerAddress server = servers.get(chain % servers.size());
        threads.submit(() -> readAll(reader, quota, server, first));
      }
    }
  }

  /** Returns the number of requests that some servers have answered rightly so far. */
  long answers(List<PeerAddress> servers) {
    return servers.stream().mapToLong(server -> counter(server).get()).sum();
  }

  private AtomicLong counter(PeerAddress server) {
    return answers.computeIfAbsent(server, _ -> new AtomicLong());
  }

  /** Returns when no request is outstanding. */
  @Override
  public void close() {
    stopped = true;
    threads.close();
  }

  private @Nullable Void readAll(
      NetworkParts reader, PeerQuota<PeerAddress> quota, PeerAddress server, int first)
      throws InterruptedException {
    for (int chunk = first; !stopped; chunk++) {
      try {
        read(reader, quota, server, blocks(outputs, chunk));
        counter(server).incrementAndGet();
      } catch (Exception e) {
        failures.add("a request failed: " + e);
        Thread.sleep(PAUSE_AFTER_FAILURE_MS);
      }
    }
    return null;
  }

  /** Returns the blocks of a request: those of one partition, of as many map outputs as fit. */
  static List<Partitions> blocks(SampleOutputs outputs, int chunk) {
    int count = CHUNK_BYTES / outputs.partitionBytes();
    int groups = outputs.maps() / count;
    int partition = chunk / groups % outputs.partitions();
    List<Partitions> blocks = new ArrayList<>();
    for (int map = chunk % groups * count; blocks.size() < count; map++) {
      blocks.add(new Partitions(map, partition, partition + 1));
    }
    return blocks;
  }

  private void read(
      NetworkParts reader,
      PeerQuota<PeerAddress> quota,
      PeerAddress server,
      List<Partitions> blocks)
      throws Exception {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    CompletableFuture<Void> share = new CompletableFuture<>();
    quota.acquire(server, CHUNK_BYTES, () -> share.complete(null));
    share.get(); // Every share comes back, since every request has a deadline.
    try {
      PooledBuffer buffer = reader.endpoint().buffers().acquire(CHUNK_BYTES, deadlineNanos).get();
      try {
        Stage stage = new Stage(SHUFFLE, TIMEOUT_MS, blocks, 0, CHUNK_BYTES);
        Object answer = reader.client().stage(server, stage).get();
        if (!(answer instanceof Staged staged)) {
          throw new IOException(answer.toString());
        }
        reader.endpoint().read(server, staged.region(), buffer, deadlineNanos).get();
        verify(blocks, buffer);
        reader.client().done(server, staged.leaseId());
      } finally {
        buffer.release();
      }
    } finally {
      quota.release(server, CHUNK_BYTES);
    }
  }

  private void verify(List<Partitions> blocks, PooledBuffer buffer) throws IOException {
    long at = 0;
    for (Partitions block : blocks) {
      Checksum checksum = ChecksumAlgorithm.CRC32C.newChecksum();
      checksum.update(buffer.segment().asSlice(at, outputs.partitionBytes()).asByteBuffer());
      if (checksum.getValue() != checksums[(int) block.mapId()][block.start()]) {
        throw new IOException("staged bytes have a wrong checksum");
      }
      at += outputs.partitionBytes();
    }
  }
}
