// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriter;

/**
 * Fails an executor's tasks where settings require RDMA that cannot run: a provider by name, or
 * {@code spark.shuffle.rdma.node=on}, with a Java or a Spark that Sluice does not support. {@link
 * RdmaShuffle#create} makes it on executors; a driver fails at once instead. Spark's task threads
 * call it. {@link #resolver} still works. Compiled for Java 17.
 */
final class RefusedShuffle extends StockShuffle {
  private final String reason;

  RefusedShuffle(IndexShuffleBlockResolver stock, String reason) {
    super(stock);
    this.reason = reason;
  }

  private IllegalStateException refused() {
    return new IllegalStateException(reason);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> registering(
      ShuffleWriter<K, V> writer, int shuffleId, long mapId, TaskContext context) {
    writer.stop(false); // Spark never gets this writer, so it cannot stop it.
    throw refused();
  }

  @Override
  public BlockStoreClient client(TaskContext context) {
    throw refused();
  }

  @Override
  <K, C> ShuffleReader<K, C> reader(
      BaseShuffleHandle<K, ?, C> handle,
      BlockRange blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      Supplier<ShuffleReader<K, C>> stockReader) {
    throw refused();
  }
}
