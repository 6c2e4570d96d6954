package dev.sluice.benchmarks.scale;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.ExecutorEndpoint;
import java.util.ArrayList;
import java.util.List;

/** Executors and map outputs that look like those of a cluster. */
final class ScaleSamples {
  static final int SHUFFLE = 0;
  static final int PORT = 40_000;
  static final String PROVIDER = "soft";

  private static final int EXECUTORS_A_NODE = 16;
  private static final long SPAN_BYTES = 1 << 24;

  private ScaleSamples() {}

  static String host(int executor) {
    return "node-%03d.example.org".formatted(executor / EXECUTORS_A_NODE);
  }

  static ExecutorEndpoint endpoint(int executor) {
    return new ExecutorEndpoint(new PeerAddress("" + executor, host(executor), PORT), PROVIDER);
  }

  /** Keys and addresses differ with the map output as they do on a NIC. */
  static MapOutputLocation location(long mapId, int partitions) {
    long tableBytes = (partitions + 1L) * PartitionTable.ENTRY_BYTES;
    return new MapOutputLocation(
        mapId,
        new RemoteRegion(
            0x7F00_0000_0000L + mapId * SPAN_BYTES, 1000L * partitions, key(2 * mapId)),
        new RemoteRegion(0x7E00_0000_0000L + mapId * SPAN_BYTES, tableBytes, key(2 * mapId + 1)),
        ChecksumAlgorithm.CRC32C);
  }

  private static int key(long number) {
    return (int) (number * 0x9E37_79B9L);
  }

  /** An executor's map outputs: those whose ids leave its number as the remainder. */
  static List<MapOutputLocation> outputs(int executor, int executors, int maps, int partitions) {
    List<MapOutputLocation> outputs = new ArrayList<>();
    for (int mapId = executor; mapId < maps; mapId += executors) {
      outputs.add(location(mapId, partitions));
    }
    return outputs;
  }

  static List<Published> published(int executor, int executors, int maps, int partitions) {
    return outputs(executor, executors, maps, partitions).stream()
        .map(output -> new Published(SHUFFLE, output))
        .toList();
  }
}
