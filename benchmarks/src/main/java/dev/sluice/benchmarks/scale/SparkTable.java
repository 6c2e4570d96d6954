package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.CpuTime;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.MapOutputTracker$;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.SparkConf;
import org.apache.spark.broadcast.BroadcastManager;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerId$;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Spark's own table of map outputs: map statuses come one by one with the results of their tasks,
 * and go out all together, compressed once.
 */
final class SparkTable implements MapTable {
  private static final ClassTag<MapStatus> STATUS = ClassTag$.MODULE$.apply(MapStatus.class);
  private static final int NO_MERGING = -1;
  private static final int WITHOUT_BROADCAST = Integer.MAX_VALUE;
  private static final long MIN_BLOCK_BYTES = 500;
  private static final long HASH = 0x9E37_79B9_7F4A_7C15L;

  private final SparkConf conf;
  private final BroadcastManager broadcasts;
  private final int minBroadcastBytes;
  private final int executors;
  private final ShuffleStatus table;
  private final List<MapStatus> statuses = new ArrayList<>();

  /**
   * @param broadcasts for tables of so many bytes
   */
  SparkTable(
      SparkConf conf,
      int executors,
      int maps,
      int partitions,
      BroadcastManager broadcasts,
      int minBroadcastBytes) {
    this.conf = conf;
    this.executors = executors;
    this.broadcasts = broadcasts;
    this.minBroadcastBytes = minBroadcastBytes;
    table = new ShuffleStatus(maps, NO_MERGING);
    long[] sizes = new long[partitions];
    for (int mapId = 0; mapId < maps; mapId++) {
      // Map outputs differ in size, or they would compress to nothing.
      Arrays.fill(sizes, MIN_BLOCK_BYTES + (mapId * HASH >>> 54));
      statuses.add(MapStatus$.MODULE$.apply(location(mapId % executors), sizes, mapId, 0));
    }
  }

  private static BlockManagerId location(int executor) {
    return BlockManagerId$.MODULE$.apply(
        "" + executor, ScaleSamples.host(executor), ScaleSamples.PORT, Option.empty());
  }

  @Override
  public long publish() throws IOException {
    SerializerInstance serializer = new JavaSerializer(conf).newInstance();
    return CpuTime.ofThread(
        () -> {
          for (int mapIndex = 0; mapIndex < statuses.size(); mapIndex++) {
            ByteBuffer result = serializer.serialize(statuses.get(mapIndex), STATUS);
            table.addMapOutput(mapIndex, serializer.deserialize(result, STATUS));
          }
        });
  }

  @Override
  public Fetched fetch() throws Exception {
    byte[][] answer = new byte[1][];
    long serving = CpuTime.ofThread(() -> answer[0] = serve(WITHOUT_BROADCAST));
    long[] taking = new long[1];
    long heapBytes =
        Heap.retainedBytes(
            () -> {
              Object[] taken = new Object[1];
              taking[0] =
                  CpuTime.ofThread(
                      () ->
                          taken[0] =
                              MapOutputTracker$.MODULE$.deserializeOutputStatuses(answer[0], conf));
              return taken;
            });
    table.invalidateSerializedMapOutputStatusCache();
    return new Fetched(answer[0].length, serving + taking[0], heapBytes);
  }

  @Override
  public Served answerAll() throws IOException {
    int whole = serve(WITHOUT_BROADCAST).length;
    table.invalidateSerializedMapOutputStatusCache();
    long[] bytes = {whole < minBroadcastBytes ? 0 : whole};
    long nanos =
        CpuTime.ofThread(
            () -> {
              for (int executor = 0; executor < executors; executor++) {
                bytes[0] += serve(minBroadcastBytes).length;
              }
            });
    table.invalidateSerializedMapOutputStatusCache();
    return new Served(bytes[0], nanos);
  }

  /** The bytes are kept until a map output changes. */
  private byte[] serve(int broadcastFromBytes) {
    return table.serializedMapStatus(broadcasts, true, broadcastFromBytes, conf);
  }
}
