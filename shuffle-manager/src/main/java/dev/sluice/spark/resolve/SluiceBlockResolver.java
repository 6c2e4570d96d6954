// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.resolve;

import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.spark.conf.SluiceConf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.netty.SparkTransportConf$;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * Spark's resolver with knowledge of the registered map outputs. It finds their blocks without
 * opening an index file for each, and ensures that no region outlives its files. {@code
 * SluiceShuffle} makes it. Tasks' threads call it for local blocks, Spark's transport threads for
 * blocks that they serve. The executor's runtime owns the registry. A method that deletes or
 * replaces files must deregister the map output first.
 */
public final class SluiceBlockResolver extends IndexShuffleBlockResolver {
  private final IndexShuffleBlockResolver migrating;
  private final Supplier<Optional<MapOutputRegistry>> registry;
  private final Migrated migrated;
  private final boolean refuseNetty;
  private final TransportConf transportConf;

  /** Action after a map output has come from another executor. */
  @FunctionalInterface
  public interface Migrated {
    /**
     * @throws IOException if the map output is not where Spark was promised it to be; the message
     *     is the reason
     */
    void committed(int shuffleId, long mapId) throws IOException;
  }

  /**
   * @param migrating resolver of the stock shuffle manager, which takes migrated map outputs, so
   *     that unregistering a shuffle finds those as well
   * @param registry empty as long as nothing can be registered
   */
  public SluiceBlockResolver(
      SparkConf conf,
      IndexShuffleBlockResolver migrating,
      Supplier<Optional<MapOutputRegistry>> registry,
      Migrated migrated) {
    super(conf);
    this.migrating = migrating;
    this.registry = registry;
    this.migrated = migrated;
    this.refuseNetty = SluiceConf.refusesNetty(conf);
    this.transportConf =
        SparkTransportConf$.MODULE$.fromSparkConf(
            conf, "shuffle", 0, Option.empty(), Option.empty());
  }

  @Override
  public ManagedBuffer getBlockData(BlockId blockId, Option<String[]> dirs) {
    // Tasks request blocks of their own executor. Without a task, the transport makes the request.
    if (refuseNetty && TaskContext.get() == null) {
      throw new IllegalStateException(
          "spark.shuffle.rdma.testing.refuseNetty: " + blockId + " is not served");
    }
    return registry
        .get()
        .filter(_ -> dirs.isEmpty())
        .map(outputs -> registered(outputs, blockId))
        .orElseGet(() -> whole(super.getBlockData(blockId, dirs)));
  }

  /** Checks the file's length. An exception is a fetch failure: Spark reruns the map task. */
  private static ManagedBuffer whole(ManagedBuffer block) {
    if (block instanceof FileSegmentManagedBuffer segment) {
      try {
        FileSegments.requireWhole(segment);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return block;
  }

  /** Returns null for a block that is not registered. */
  private @Nullable ManagedBuffer registered(MapOutputRegistry outputs, BlockId blockId) {
    return switch (blockId) {
      case ShuffleBlockId id ->
          registered(outputs, id.shuffleId(), id.mapId(), id.reduceId(), id.reduceId() + 1);
      case ShuffleBlockBatchId id ->
          registered(outputs, id.shuffleId(), id.mapId(), id.startReduceId(), id.endReduceId());
      default -> null;
    };
  }

  private @Nullable ManagedBuffer registered(
      MapOutputRegistry outputs, int shuffleId, long mapId, int startPartition, int endPartition) {
    MapOutputRegistry.Segment segment =
        outputs.segment(shuffleId, mapId, startPartition, endPartition);
    if (segment == null) {
      return null;
    }
    FileSegmentManagedBuffer file =
        new FileSegmentManagedBuffer(
            transportConf, segment.file().toFile(), segment.offset(), segment.length());
    return segment.mapped()
        ? new RegisteredManagedBuffer(
            file, () -> outputs.open(shuffleId, mapId, startPartition, endPartition))
        : whole(file);
  }

  /**
   * Tells both resolvers, as stored bytes count towards {@code
   * ...decommission.shuffleBlocks.maxDiskSize}.
   */
  @Override
  public void addShuffleToSkip(int shuffleId) {
    super.addShuffleToSkip(shuffleId);
    migrating.addShuffleToSkip(shuffleId);
  }

  @Override
  public void removeDataByMap(int shuffleId, long mapId) {
    invalidate(shuffleId, mapId);
    super.removeDataByMap(shuffleId, mapId);
  }

  /** Takes a file of a map output that migrates here from a decommissioned executor. */
  @Override
  public StreamCallbackWithID putShuffleBlockAsStream(
      BlockId blockId, SerializerManager serializerManager) {
    StreamCallbackWithID callback = migrating.putShuffleBlockAsStream(blockId, serializerManager);
    return switch (blockId) {
      case ShuffleDataBlockId id -> new Migration(callback, id.shuffleId(), id.mapId());
      case ShuffleIndexBlockId id -> new Migration(callback, id.shuffleId(), id.mapId());
      default -> callback;
    };
  }

  private void invalidate(int shuffleId, long mapId) {
    registry.get().ifPresent(outputs -> outputs.invalidate(shuffleId, mapId));
  }

  private boolean isComplete(int shuffleId, long mapId) {
    return getDataFile(shuffleId, mapId).exists()
        && getIndexFile(shuffleId, mapId, Option.empty()).exists();
  }

  /** A migrating file. Data and index come one after the other, in either order. */
  private final class Migration implements StreamCallbackWithID {
    private final StreamCallbackWithID callback;
    private final int shuffleId;
    private final long mapId;

    Migration(StreamCallbackWithID callback, int shuffleId, long mapId) {
      this.callback = callback;
      this.shuffleId = shuffleId;
      this.mapId = mapId;
    }

    @Override
    public String getID() {
      return callback.getID();
    }

    @Override
    public void onData(String streamId, ByteBuffer bytes) throws IOException {
      callback.onData(streamId, bytes);
    }

    @Override
    public void onComplete(String streamId) throws IOException {
      // This replaces an older file of the same name.
      invalidate(shuffleId, mapId);
      callback.onComplete(streamId);
      if (isComplete(shuffleId, mapId)) {
        migrated.committed(shuffleId, mapId);
      }
    }

    @Override
    public void onFailure(String streamId, Throwable cause) throws IOException {
      callback.onFailure(streamId, cause);
    }

    @Override
    public ByteBuffer getCompletionResponse() {
      return callback.getCompletionResponse();
    }
  }

  /**
   * Checks of blocks in files. {@link SluiceBlockResolver} and its buffers call it, on the threads
   * that read a block. It only asks for the file's length.
   */
  static final class FileSegments {
    private FileSegments() {}

    /**
     * Checks that the file is long enough for the block. In a truncated file, the streams of some
     * codecs and of Kryo just end, and records would be lost unnoticed.
     *
     * @throws IOException if the file ends before the block does, or is gone
     */
    static void requireWhole(FileSegmentManagedBuffer block) throws IOException {
      long end = block.getOffset() + block.getLength();
      long length = block.getFile().length();
      if (length < end) {
        throw new IOException(
            "%s is truncated: it has %d bytes, but a block ends at byte %d"
                .formatted(block.getFile(), length, end));
      }
    }
  }
}
