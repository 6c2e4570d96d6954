// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.spark.RdmaShuffle.BlockRange;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriter;

/**
 * Spark's shuffle as it is: registers nothing and READs nothing. {@link RdmaShuffle#create} makes
 * it for {@code spark.shuffle.rdma.provider=off}, and for {@code auto} where RDMA cannot run. Any
 * thread; it holds nothing to close. Compiled for Java 17.
 */
class StockShuffle extends RdmaShuffle {
  private final IndexShuffleBlockResolver stock;

  StockShuffle(IndexShuffleBlockResolver stock) {
    this.stock = stock;
  }

  @Override
  public void register(SparkContext context) {}

  @Override
  public IndexShuffleBlockResolver resolver() {
    return stock;
  }

  @Override
  public <K, V> ShuffleWriter<K, V> registering(
      ShuffleWriter<K, V> writer, int shuffleId, long mapId, TaskContext context) {
    return writer;
  }

  @Override
  public BlockStoreClient client(TaskContext context) {
    return SparkEnv.get().blockManager().blockStoreClient();
  }

  @Override
  <K, C> ShuffleReader<K, C> reader(
      BaseShuffleHandle<K, ?, C> handle,
      BlockRange blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      Supplier<ShuffleReader<K, C>> stockReader) {
    return stockReader.get();
  }

  @Override
  public void unregister(int shuffleId) {}

  @Override
  public Map<String, Long> totals() {
    return Map.of();
  }

  @Override
  public Map<String, String> devices() {
    return Map.of();
  }

  @Override
  public void close() {}
}
