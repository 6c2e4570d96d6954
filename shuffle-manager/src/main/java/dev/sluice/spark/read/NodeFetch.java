package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.ExecutorDeadException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;

/**
 * One attempt to fetch blocks from the block server of a node by Spark's own transfer. Spark's
 * retries end at once where the executor that wrote the blocks is dead, so there are ours, for a
 * server that is started again. What the node does not give is fetched from that executor, which
 * may live. Spark's transport threads call it; every block gets one answer, and none is waited for.
 */
final class NodeFetch implements BlockFetchingListener {
  /** Over 7 s in all: a block server needs a second or two to start again. */
  private static final int MAX_ATTEMPTS = 10;

  private static final long FIRST_PAUSE_MS = 200;
  private static final long LONGEST_PAUSE_MS = 1_000;

  /**
   * What is fetched.
   *
   * @param executor runs what blocks
   * @param target the executor that wrote the blocks
   * @param listener gets each block's answer
   * @param files null where the blocks go to memory
   */
  record Call(
      BlockStoreClient client,
      Executor executor,
      PeerAddress node,
      BlockManagerId target,
      BlockFetchingListener listener,
      DownloadFileManager files) {}

  private final Call call;
  private final int attempt;
  private final Set<String> outstanding = ConcurrentHashMap.newKeySet();
  private final Map<String, Throwable> failed = new ConcurrentHashMap<>();
  private final AtomicInteger unanswered;

  private NodeFetch(Call call, int attempt, String[] blockIds) {
    this.call = call;
    this.attempt = attempt;
    this.unanswered = new AtomicInteger(blockIds.length);
    outstanding.addAll(Arrays.asList(blockIds));
  }

  /** May block while it connects. */
  static void start(Call call, String[] blockIds) {
    start(call, 1, blockIds);
  }

  private static void start(Call call, int attempt, String[] blockIds) {
    PeerAddress node = call.node();
    call.client()
        .fetchBlocks(
            node.host(),
            node.port(),
            call.target().executorId(),
            blockIds,
            new NodeFetch(call, attempt, blockIds),
            call.files());
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
    if (outstanding.remove(blockId)) {
      try {
        call.listener().onBlockFetchSuccess(blockId, data);
      } finally {
        answered();
      }
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    if (outstanding.remove(blockId)) {
      failed.put(blockId, failure);
      answered();
    }
  }

  private void answered() {
    if (unanswered.decrementAndGet() > 0 || failed.isEmpty()) {
      return;
    }
    try {
      call.executor().execute(this::fetchFailed);
    } catch (RuntimeException e) {
      fail();
    }
  }

  /** Blocks, also while the server may be starting. */
  private void fetchFailed() {
    String[] blockIds = failed.keySet().toArray(String[]::new);
    boolean isDead = failed.values().stream().anyMatch(ExecutorDeadException.class::isInstance);
    try {
      if (!isDead) {
        fetchFromExecutor(blockIds);
      } else if (attempt < MAX_ATTEMPTS) {
        Thread.sleep(Math.min(attempt * FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
        start(call, attempt + 1, blockIds);
      } else {
        fail();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail();
    } catch (Throwable e) { // Every block gets its answer.
      fail();
    }
  }

  private void fetchFromExecutor(String[] blockIds) {
    BlockManagerId target = call.target();
    call.client()
        .fetchBlocks(
            target.host(),
            target.port(),
            target.executorId(),
            blockIds,
            call.listener(),
            call.files());
  }

  private void fail() {
    failed.forEach(call.listener()::onBlockFetchFailure);
  }
}
