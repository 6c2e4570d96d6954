package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.gather.RemoteChunks;
import dev.sluice.spark.locate.Locator.Located;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * Gathers a reduce task's blocks of other executors in chunks, within a limit of bytes that are
 * READ or wait to be consumed: what is released makes room for more. The task starts it, takes the
 * chunks and closes it; any thread answers. The lock is held for queue operations only.
 */
final class TaskGather implements RemoteChunks {
  /** So many chunks fit into the limit, so that one is consumed while others are READ. */
  private static final int MIN_CHUNKS = 4;

  private final ReadPath path;
  private final long maxBytes;

  // Guarded by this.
  private final Queue<ChunkRead> waiting = new ArrayDeque<>();
  private final Queue<Chunk> arrived = new ArrayDeque<>();
  private int unanswered;
  private long bytes;
  private boolean requesting;
  private boolean closed;

  /**
   * @param maxBytes that are READ or wait at a time, or one chunk
   */
  TaskGather(ReadPath path, long maxBytes) {
    this.path = path;
    this.maxBytes = maxBytes;
  }

  @Override
  public boolean start(BlockGroup group) {
    String executorId = LoopbackSwitch.realId(group.address().executorId());
    CompletableFuture<Located> locating =
        path.locator().locate(group.shuffleId(), executorId, group.mapIds());
    if (locating.isDone() && locating.join().peer() == null) {
      return false;
    }
    synchronized (this) {
      unanswered++;
    }
    new GroupGather(path, this, group).start(locating);
    return true;
  }

  /** Bytes of a chunk at most, and so of a member. */
  int maxChunkBytes() {
    return (int) Math.min(path.maxGroupBytes(), Math.max(1, maxBytes / MIN_CHUNKS));
  }

  /** A group's answer: where it is to be READ. */
  void located(PeerAddress peer, LocatedGroup members) {
    List<ChunkRead> chunks = chunks(peer, members);
    synchronized (this) {
      unanswered--;
      if (!closed) {
        unanswered += chunks.size();
        waiting.addAll(chunks);
      }
      notifyAll();
    }
    request();
  }

  private List<ChunkRead> chunks(PeerAddress peer, LocatedGroup members) {
    List<ChunkRead> chunks = new ArrayList<>();
    int size = members.group().size();
    int from = 0;
    int length = 0;
    for (int member = 0; member < size; member++) {
      if (length + members.length(member) > maxChunkBytes()) {
        chunks.add(new ChunkRead(path, this, peer, members, from, member, length));
        from = member;
        length = 0;
      }
      length += members.length(member);
    }
    if (length > 0) {
      chunks.add(new ChunkRead(path, this, peer, members, from, size, length));
    }
    return chunks;
  }

  /** Starts what there is room for. One thread at a time, in a loop: a chunk may fail at once. */
  private void request() {
    synchronized (this) {
      if (requesting) {
        return;
      }
      requesting = true;
    }
    for (ChunkRead next = nextRequest(); next != null; next = nextRequest()) {
      next.start();
    }
  }

  private synchronized ChunkRead nextRequest() {
    ChunkRead first = waiting.peek();
    if (first == null || (bytes > 0 && bytes + first.bytes() > maxBytes)) {
      requesting = false;
      return null;
    }
    bytes += first.bytes();
    return waiting.poll();
  }

  /** A chunk's answer. */
  void arrived(Chunk chunk) {
    synchronized (this) {
      if (!closed) {
        arrived.add(chunk);
        unanswered--;
        notifyAll();
        return;
      }
    }
    chunk.release();
  }

  /** A group's answer: it is left to Spark. */
  synchronized void gaveUp() {
    unanswered--;
    notifyAll();
  }

  /** A chunk's answer: it is left to Spark. */
  void gaveUp(int chunkBytes) {
    gaveUp();
    released(chunkBytes);
  }

  /** A chunk was consumed. */
  void released(int chunkBytes) {
    synchronized (this) {
      bytes -= chunkBytes;
    }
    request();
  }

  @Override
  public synchronized Chunk poll() {
    return arrived.poll();
  }

  /** Waits as long as there are answers to come, which all have their deadlines. */
  @Override
  public synchronized Chunk take() throws InterruptedException {
    while (arrived.isEmpty() && unanswered > 0 && !closed) {
      wait();
    }
    return arrived.poll();
  }

  @Override
  public synchronized List<Chunk> close() {
    closed = true;
    waiting.clear();
    List<Chunk> undelivered = List.copyOf(arrived);
    arrived.clear();
    notifyAll();
    return undelivered;
  }
}
