// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.spark.RdmaShuffle.BlockRange;
import dev.sluice.spark.ui.SluiceUi;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spark's shuffle as it is: registers nothing and READs nothing. {@link RdmaShuffle#create} makes
 * it for {@code spark.shuffle.rdma.provider=off}, and for {@code auto} where RDMA cannot run. The
 * tab "Sluice" in Spark's UI gives the reason. Any thread; it holds nothing to close. Compiled for
 * Java 17.
 */
class StockShuffle extends RdmaShuffle {
  private static final Logger LOG = LoggerFactory.getLogger(StockShuffle.class);

  private final IndexShuffleBlockResolver stock;
  private final String reason;
  private final String key;
  private final AtomicBoolean isShown = new AtomicBoolean();

  /**
   * @param reason why Sluice is off
   * @param key configuration key that turns it on; empty if there is none
   */
  StockShuffle(IndexShuffleBlockResolver stock, String reason, String key) {
    this.stock = stock;
    this.reason = reason;
    this.key = key;
  }

  @Override
  public void register(SparkContext context) {
    if (isShown.getAndSet(true)) {
      return;
    }
    try {
      SluiceUi.showOff(context, reason, key);
    } catch (Throwable e) { // Errors too: a vendor's Spark may lack a class of the tab.
      LOG.warn("Spark's UI does not tell that Sluice is off, because adding its tab failed", e);
    }
  }

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
