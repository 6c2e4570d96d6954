package dev.sluice.benchmarks.oracle;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.ExecutorDiskUtils;

/**
 * Finds files in the local directories of other executors on this machine, which those are asked
 * for once, as Spark does for host-local reads. Any thread.
 */
final class PeerDirectories {
  private static final long TIMEOUT_S = 30;

  private final int subDirectories;
  private final Map<String, String[]> byExecutor = new ConcurrentHashMap<>();

  /**
   * @param subDirectories spark.diskStore.subDirectories
   */
  PeerDirectories(int subDirectories) {
    this.subDirectories = subDirectories;
  }

  /** Where an executor has the file of that name; asks {@code client} if need be. */
  Path find(BlockStoreClient client, String host, int port, String executorId, String name)
      throws IOException {
    String[] directories = byExecutor.get(executorId);
    if (directories == null) {
      directories = ask(client, host, port, executorId);
      byExecutor.put(executorId, directories);
    }
    return Path.of(ExecutorDiskUtils.getFilePath(directories, subDirectories, name));
  }

  private static String[] ask(BlockStoreClient client, String host, int port, String executorId)
      throws IOException {
    CompletableFuture<Map<String, String[]>> answer = new CompletableFuture<>();
    client.getHostLocalDirs(host, port, new String[] {executorId}, answer);
    try {
      return answer.get(TIMEOUT_S, TimeUnit.SECONDS).get(executorId);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("executor " + executorId + " does not name its directories", e);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("asking executor " + executorId + " for its directories");
    }
  }
}
