// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.client.CircuitOpenException;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.mapreduce.HttpReason;
import dev.sluice.mapreduce.NodeReadException;
import dev.sluice.mapreduce.reader.BatchPlan.Piece;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * READs pieces into pooled buffers: at once if they are registered, else after the node has staged
 * them. A node may stage less than it is asked for; the rest is asked for again. Steps run on the
 * thread that ended the step before, and none blocks. Checksums are not compared here: each
 * partition has one, which Hadoop's merger compares.
 */
final class PieceReads {
  private static final int MAX_ATTEMPTS = 3;

  private final BlockServerClient servers;
  private final RdmaEndpoint endpoint;
  private final int partition;
  private final long timeoutMs;

  PieceReads(BlockServerClient servers, RdmaEndpoint endpoint, int partition, long timeoutMs) {
    this.servers = servers;
    this.endpoint = endpoint;
    this.partition = partition;
    this.timeoutMs = timeoutMs;
  }

  /**
   * READs a piece. The caller releases the buffer.
   *
   * @return completes with a buffer of the piece's size, or exceptionally with a {@link
   *     NodeReadException}, perhaps as a cause
   */
  CompletableFuture<PooledBuffer> start(Piece piece) {
    servers.touch(peer(piece), JobNode.SHUFFLE);
    return endpoint
        .buffers()
        .acquire(piece.bytes(), deadlineNanos())
        .thenCompose(
            buffer -> {
              if (buffer == null) {
                throw failure(HttpReason.BUFFERS, "no buffer became free in time");
              }
              return begin(piece, buffer).handle((_, failure) -> finished(buffer, failure));
            });
  }

  private CompletableFuture<Void> begin(Piece piece, PooledBuffer buffer) {
    try {
      return piece.isStaged() ? stage(piece, buffer, 0, 1) : read(piece, regions(piece), buffer, 0);
    } catch (RuntimeException | Error e) { // A defect, which must not keep the buffer.
      return CompletableFuture.failedFuture(e);
    }
  }

  private static PooledBuffer finished(PooledBuffer buffer, Throwable failure) {
    if (failure == null) {
      return buffer;
    }
    buffer.release();
    throw failure instanceof CompletionException wrapped
        ? wrapped
        : new CompletionException(failure);
  }

  private long deadlineNanos() {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
  }

  private static PeerAddress peer(Piece piece) {
    return piece.partitions().getFirst().peer();
  }

  private static CompletionException failure(HttpReason reason, String message) {
    return new CompletionException(new NodeReadException(reason, message, null));
  }

  private static List<RemoteRegion> regions(Piece piece) {
    if (piece.partitions().size() == 1) {
      return List.of(piece.partitions().getFirst().region(piece.position(), piece.bytes()));
    }
    return piece.partitions().stream().map(each -> each.region(0, (int) each.bytes())).toList();
  }

  private CompletableFuture<Void> read(
      Piece piece, List<RemoteRegion> regions, PooledBuffer buffer, int offset) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    endpoint.read(
        new ReadRequest(
            peer(piece),
            regions,
            buffer,
            offset,
            deadlineNanos(),
            new ReadListener() {
              @Override
              public void onSuccess() {
                done.complete(null);
              }

              @Override
              public void onFailure(ReadException e) {
                done.completeExceptionally(
                    new NodeReadException(reason(e), String.valueOf(e.getMessage()), e));
              }
            }));
    return done;
  }

  private static HttpReason reason(ReadException e) {
    return switch (e.failure()) {
      case STALE_LOCATION -> HttpReason.STALE_LOCATION;
      case CONNECT -> HttpReason.CONNECT;
      case TRANSPORT, CLOSED -> HttpReason.TRANSPORT;
      case DEADLINE -> HttpReason.DEADLINE;
      case CIRCUIT_OPEN -> HttpReason.CIRCUIT_OPEN;
    };
  }

  /**
   * Has the node stage a piece, and READs the copy.
   *
   * @param offset where the piece begins in the buffer
   */
  private CompletableFuture<Void> stage(Piece piece, PooledBuffer buffer, int offset, int attempt) {
    List<Partitions> wanted =
        piece.partitions().stream()
            .map(each -> new Partitions(each.mapId(), partition, partition + 1))
            .toList();
    Stage request =
        new Stage(
            JobNode.SHUFFLE, Math.toIntExact(timeoutMs), wanted, piece.position(), piece.bytes());
    long askedNanos = System.nanoTime();
    return servers
        .stage(peer(piece), request)
        .handle(
            (answer, failure) -> {
              if (answer instanceof Staged staged) {
                return staged;
              }
              if (answer instanceof NotStaged not) {
                throw failure(
                    not.stale() ? HttpReason.STALE_LOCATION : HttpReason.STAGING, not.reason());
              }
              throw failure(
                  failure instanceof CompletionException wrapped
                          && wrapped.getCause() instanceof CircuitOpenException
                      ? HttpReason.CIRCUIT_OPEN
                      : HttpReason.STAGING,
                  peer(piece) + " did not stage: " + failure);
            })
        .thenCompose(staged -> read(piece, staged, askedNanos, buffer, offset, attempt));
  }

  private CompletableFuture<Void> read(
      Piece piece, Staged staged, long askedNanos, PooledBuffer buffer, int offset, int attempt) {
    int copied = copied(piece, staged);
    if (copied == 0) {
      giveBack(piece, staged);
      throw failure(HttpReason.STAGING, peer(piece) + " staged other bytes than it was asked for");
    }
    return read(piece, List.of(staged.region()), buffer, offset)
        .whenComplete((_, _) -> giveBack(piece, staged))
        .thenCompose(
            _ -> {
              long usableNanos = ControlMessages.usable(staged.leaseNanos());
              if (System.nanoTime() - askedNanos - staged.tookNanos() >= usableNanos) {
                if (attempt == MAX_ATTEMPTS) {
                  throw failure(HttpReason.STAGING, "READs of staged bytes ended too late");
                }
                return stage(piece, buffer, offset, attempt + 1);
              }
              return copied == piece.bytes()
                  ? CompletableFuture.completedFuture(null)
                  : stage(rest(piece, copied), buffer, offset + copied, 1);
            });
  }

  /** Bytes of the copy; 0 if it is not a beginning of the piece. */
  private static int copied(Piece piece, Staged staged) {
    long copied = staged.region().length();
    if (copied > piece.bytes()) {
      return 0;
    }
    if (piece.partitions().size() == 1) {
      return (int) copied;
    }
    long whole = 0;
    for (NodePartition each : piece.partitions()) {
      if (whole == copied) {
        break;
      }
      whole += each.bytes();
    }
    return whole == copied ? (int) copied : 0;
  }

  private static Piece rest(Piece piece, int copied) {
    int left = piece.bytes() - copied;
    if (piece.partitions().size() == 1) {
      return new Piece(piece.partitions(), piece.position() + copied, left);
    }
    int first = 0;
    for (long whole = 0; whole < copied; first++) {
      whole += piece.partitions().get(first).bytes();
    }
    return new Piece(piece.partitions().subList(first, piece.partitions().size()), 0, left);
  }

  private void giveBack(Piece piece, Staged staged) {
    if (staged.region().length() > 0) {
      servers.done(peer(piece), staged.leaseId());
    }
  }
}
