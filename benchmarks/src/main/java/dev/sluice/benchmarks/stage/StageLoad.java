// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.blocks.server.Stager;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * Tasks of several executors that let servers stage for them. Each has two requests at each server
 * outstanding, as far as the executor's quotas allow, and verifies the bytes before the next
 * request. A refusal or failure is counted, and is followed by a request as well. A virtual thread
 * makes each request and the ones that follow it. {@link StagePeers} creates this load, which
 * starts it, and closes it, which waits for all requests.
 */
final class StageLoad implements AutoCloseable {
  /** Any id would do: each shuffle has the same files ({@link SampleOutputs}). */
  static final int SHUFFLE = 0;

  /** Outstanding requests of a task at a server. */
  private static final int UNDER_WAY = 2;

  private static final int CHUNK_BYTES = Stager.MAX_REQUEST_BYTES;

  /** Default of spark.shuffle.rdma.read.timeout. */
  private static final int TIMEOUT_MS = 30_000;

  /**
   * Result of a request.
   *
   * @param nanos time from asking to verification, including the wait for quota and buffer
   * @param failure reason of a failure; null after a success
   */
  record Answer(PeerAddress server, long nanos, @Nullable String failure) {}

  private final SampleOutputs outputs;
  private final long[][] checksums;
  private final int thinkMs;
  private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean stopped;

  /**
   * @param thinkMs average time that a task takes for the bytes before its next request, in ms
   */
  StageLoad(
      List<NetworkParts> readers,
      List<PeerAddress> servers,
      SampleOutputs outputs,
      long[][] checksums,
      int thinkMs) {
    this.outputs = outputs;
    this.checksums = checksums;
    this.thinkMs = thinkMs;
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

  /** Returns the results so far. */
  List<Answer> answers() {
    return List.copyOf(answers);
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
      long start = System.nanoTime();
      String failure = null;
      try {
        read(reader, quota, server, pieces(outputs, chunk));
      } catch (Exception e) {
        failure = e.toString();
      }
      answers.add(new Answer(server, System.nanoTime() - start, failure));
      Thread.sleep(failure == null ? ThreadLocalRandom.current().nextInt(2 * thinkMs + 1) : 100);
    }
    return null;
  }

  /** Returns the pieces of a request: those of one partition, of as many map outputs as fit. */
  static List<Piece> pieces(SampleOutputs outputs, int chunk) {
    int count = CHUNK_BYTES / outputs.partitionBytes();
    int groups = outputs.maps() / count;
    long position = (long) (chunk / groups % outputs.partitions()) * outputs.partitionBytes();
    List<Piece> pieces = new ArrayList<>();
    for (int map = chunk % groups * count; pieces.size() < count; map++) {
      pieces.add(new Piece(map, position, outputs.partitionBytes()));
    }
    return pieces;
  }

  private void read(
      NetworkParts reader, PeerQuota<PeerAddress> quota, PeerAddress server, List<Piece> pieces)
      throws Exception {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    acquire(quota, server, CHUNK_BYTES, 2 * TIMEOUT_MS);
    try {
      PooledBuffer buffer = reader.endpoint().buffers().acquire(CHUNK_BYTES, deadlineNanos).get();
      try {
        read(reader, server, pieces, buffer, deadlineNanos);
      } finally {
        buffer.release();
      }
    } finally {
      quota.release(server, CHUNK_BYTES);
    }
  }

  /** Waits for a share of the quota. Gives back a share that is granted after the timeout. */
  static <P> void acquire(PeerQuota<P> quota, P peer, long bytes, long timeoutMs) throws Exception {
    CompletableFuture<Void> share = new CompletableFuture<>();
    quota.acquire(
        peer,
        bytes,
        () -> {
          if (!share.complete(null)) {
            quota.release(peer, bytes);
          }
        });
    try {
      share.get(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | InterruptedException e) {
      if (!share.cancel(false)) { // It was granted just now.
        quota.release(peer, bytes);
      }
      throw e;
    }
  }

  private void read(
      NetworkParts reader,
      PeerAddress server,
      List<Piece> pieces,
      PooledBuffer buffer,
      long deadlineNanos)
      throws Exception {
    Object answer = reader.client().stage(server, new Stage(SHUFFLE, TIMEOUT_MS, pieces)).get();
    if (!(answer instanceof Staged staged)) {
      throw new IOException(answer.toString());
    }
    try {
      reader.endpoint().read(server, staged.region(), buffer, deadlineNanos).get();
      verify(pieces, buffer);
    } finally {
      reader.client().done(server, staged.leaseId());
    }
  }

  private void verify(List<Piece> pieces, PooledBuffer buffer) throws IOException {
    long at = 0;
    for (Piece piece : pieces) {
      Checksum checksum = ChecksumAlgorithm.CRC32C.newChecksum();
      checksum.update(buffer.segment().asSlice(at, piece.length()).asByteBuffer());
      int partition = (int) (piece.position() / piece.length());
      if (checksum.getValue() != checksums[(int) piece.mapId()][partition]) {
        throw new IOException("staged bytes have a wrong checksum");
      }
      at += piece.length();
    }
  }
}
