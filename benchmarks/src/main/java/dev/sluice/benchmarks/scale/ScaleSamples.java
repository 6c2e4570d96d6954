package dev.sluice.benchmarks.scale;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
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
  private static final int SEGMENTS_AN_EXECUTOR = 1000;
  private static final long SPAN_BYTES = 1 << 24;

  private ScaleSamples() {}

  static String host(int executor) {
    return "node-%03d.example.org".formatted(executor / EXECUTORS_A_NODE);
  }

  static ExecutorEndpoint endpoint(int executor) {
    return new ExecutorEndpoint(new PeerAddress("" + executor, host(executor), PORT), PROVIDER);
  }

  /** Slots of each segment of partition tables that an executor with so many map outputs has. */
  private static List<Integer> segmentSlots(int outputs, int partitions) {
    List<Integer> slots = new ArrayList<>();
    for (int used = 0; used < outputs; used += slots.getLast()) {
      slots.add(TableSegment.nextSlots(used, partitions));
    }
    return slots;
  }

  /** An executor's segments: keys and addresses differ as they do on a NIC. */
  private static List<TableSegment> segments(int executor, int outputs, int partitions) {
    List<TableSegment> segments = new ArrayList<>();
    for (int slots : segmentSlots(outputs, partitions)) {
      long number = (long) executor * SEGMENTS_AN_EXECUTOR + segments.size();
      segments.add(
          new TableSegment(
              new RemoteRegion(
                  0x7E00_0000_0000L + number * SPAN_BYTES,
                  TableSegment.bytes(slots, partitions),
                  (int) (number * 0x9E37_79B9L)),
              slots));
    }
    return segments;
  }

  /** An executor's map outputs: those whose ids leave its number as the remainder. */
  static List<MapOutputLocation> outputs(int executor, int executors, int maps, int partitions) {
    List<MapOutputLocation> outputs = new ArrayList<>();
    int mapId = executor;
    for (TableSegment segment : segments(executor, Math.ceilDiv(maps, executors), partitions)) {
      for (int slot = 0; slot < segment.slots() && mapId < maps; slot++, mapId += executors) {
        outputs.add(new MapOutputLocation(mapId, segment, slot));
      }
    }
    return outputs;
  }

  static List<Published> published(int executor, int executors, int maps, int partitions) {
    return outputs(executor, executors, maps, partitions).stream()
        .map(output -> new Published(SHUFFLE, output))
        .toList();
  }
}
