package dev.sluice.benchmarks.oracle;

import dev.sluice.spark.read.SparkFetch;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/**
 * Shows what a shuffle could gain at most that delivers block by block to Spark's own iterator: an
 * executor maps the files of another one on the same machine and answers every block from memory at
 * once, so that neither wire nor lookup costs anything. What is left is Spark's work per block.
 * Writers and files are Spark's.
 *
 * <p>It is for executors of one machine, and for nothing but measuring: it checks no bytes and
 * outlives no failure. Spark creates one a process and calls it from tasks' threads.
 */
public final class OracleShuffleManager extends SortShuffleManager {
  private final MapOutputs outputs = new MapOutputs();
  private final PeerDirectories directories;
  private final OracleBlockResolver resolver;

  /** Called by Spark. */
  public OracleShuffleManager(SparkConf conf) {
    super(conf);
    this.directories = new PeerDirectories(conf.getInt("spark.diskStore.subDirectories", 64));
    this.resolver = new OracleBlockResolver(conf, outputs);
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    @SuppressWarnings("unchecked")
    ShuffleDependency<K, ?, C> dependency = ((BaseShuffleHandle<K, ?, C>) handle).dependency();
    // Which the workloads leave to what follows.
    if (dependency.aggregator().isDefined() || dependency.keyOrdering().isDefined()) {
      throw new UnsupportedOperationException(
          "The oracle neither aggregates nor sorts: shuffle " + handle.shuffleId());
    }
    SparkFetch spark = new SparkFetch(context, metrics);
    return () ->
        spark.records(
            spark.blocks(
                new OracleBlockStoreClient(outputs, directories),
                SparkEnv.get()
                    .mapOutputTracker()
                    .getMapSizesByExecutorId(
                        handle.shuffleId(),
                        startMapIndex,
                        endMapIndex,
                        startPartition,
                        endPartition),
                // Serializer and codec of SQL, which asks for batches, allow them.
                canUseBatchFetch(startPartition, endPartition, context)),
            dependency.serializer().newInstance());
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return resolver;
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    outputs.forget(shuffleId);
    return super.unregisterShuffle(shuffleId);
  }
}
