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
 * On an executor that cannot have the provider that was asked for by name: tasks fail with the
 * reason. Compiled for Java 17.
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
    writer.stop(false); // Spark is not given it.
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
