package dev.sluice.benchmarks.oracle;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import scala.Option;

/**
 * Gives tasks the blocks of their own executor, and those that they read from another one's
 * directories on this host, in the same way as those that they fetch.
 */
final class OracleBlockResolver extends IndexShuffleBlockResolver {
  private final MapOutputs outputs;

  OracleBlockResolver(SparkConf conf, MapOutputs outputs) {
    super(conf);
    this.outputs = outputs;
  }

  @Override
  public ManagedBuffer getBlockData(BlockId blockId, Option<String[]> dirs) {
    Partitions wanted = Partitions.parse(blockId.name());
    try {
      return outputs
          .get(
              wanted.shuffleId(),
              wanted.mapId(),
              () ->
                  MapOutput.open(
                      getDataFile(wanted.shuffleId(), wanted.mapId(), dirs).toPath(),
                      getIndexFile(wanted.shuffleId(), wanted.mapId(), dirs).toPath()))
          .block(wanted.start(), wanted.end());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
