// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.MapOutputRegistry.Segment;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.ExternalShuffleBlockResolver;
import org.apache.spark.network.shuffle.ShuffleIndexInformation;
import org.apache.spark.network.shuffle.ShuffleIndexRecord;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.network.shuffle.checksum.ShuffleChecksumHelper;
import org.apache.spark.network.util.TransportConf;

/**
 * Finds an application's blocks for Spark's own transfer: among the node's map outputs, not in
 * executors' directories. The {@link SparkApplication} makes it for Spark's handler of blocks, and
 * closes that. The transport's threads call it, and read an index file at most.
 */
final class NodeBlockResolver extends ExternalShuffleBlockResolver {
  private final TransportConf conf;
  private final String application;
  private final String sparksId;
  private final MapOutputFiles outputs;
  private final MapOutputRegistry registry;

  /**
   * @param application its name: Spark's application id, a hyphen, and the id of this run, which
   *     has no hyphen
   */
  NodeBlockResolver(
      TransportConf conf, String application, MapOutputFiles outputs, MapOutputRegistry registry)
      throws IOException {
    super(conf, null);
    this.conf = conf;
    this.application = application;
    sparksId = application.substring(0, Math.max(0, application.lastIndexOf('-')));
    this.outputs = outputs;
    this.registry = registry;
  }

  @Override
  public ManagedBuffer getBlockData(
      String appId, String execId, int shuffleId, long mapId, int reduceId) {
    return getContinuousBlocksData(appId, execId, shuffleId, mapId, reduceId, reduceId + 1);
  }

  /** Map ids are unique in an application, so it does not matter which executor wrote it. */
  @Override
  public ManagedBuffer getContinuousBlocksData(
      String appId, String execId, int shuffleId, long mapId, int startReduceId, int endReduceId) {
    checkApplication(appId);
    registry.touch(shuffleId);
    Segment known = registry.segment(shuffleId, mapId, startReduceId, endReduceId);
    if (known != null) {
      return new FileSegmentManagedBuffer(
          conf, known.file().toFile(), known.offset(), known.length());
    }
    MapOutputFiles.Files files = find(shuffleId, mapId);
    ShuffleIndexRecord block = index(files).getIndex(startReduceId, endReduceId);
    return new FileSegmentManagedBuffer(
        conf, files.data().toFile(), block.offset(), block.length());
  }

  private void checkApplication(String appId) {
    if (!sparksId.equals(appId)) {
      throw new SecurityException("This is " + application + " and not " + appId);
    }
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) {
    try {
      MapOutputFiles.Files files = outputs.find(shuffleId, mapId);
      if (files == null) {
        throw new IllegalStateException(
            "This node does not have map output %d of shuffle %d".formatted(mapId, shuffleId));
      }
      return files;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ShuffleIndexInformation index(MapOutputFiles.Files files) {
    try {
      return new ShuffleIndexInformation(files.index().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Cause diagnoseShuffleBlockCorruption(
      String appId,
      String execId,
      int shuffleId,
      long mapId,
      int reduceId,
      long checksumByReader,
      String algorithm) {
    checkApplication(appId);
    MapOutputFiles.Files files = find(shuffleId, mapId);
    if (files.checksums() == null || !files.checksumAlgorithm().name().equals(algorithm)) {
      return Cause.UNKNOWN_ISSUE;
    }
    ManagedBuffer block = getBlockData(appId, execId, shuffleId, mapId, reduceId);
    return ShuffleChecksumHelper.diagnoseCorruption(
        algorithm, files.checksums().toFile(), reduceId, block, checksumByReader);
  }
}
