package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import java.util.Arrays;
import java.util.List;

/** Locations, endpoints and messages for tests. */
final class Samples {
  static final int SHUFFLE = 7;

  private Samples() {}

  static ExecutorEndpoint endpoint(String executorId) {
    return new ExecutorEndpoint(new PeerAddress(executorId, "host-" + executorId, 4000), "soft");
  }

  /** A location that differs with its map id. */
  static MapOutputLocation location(long mapId) {
    return location(mapId, 0);
  }

  /** Another location of the same map output. */
  static MapOutputLocation location(long mapId, int move) {
    return new MapOutputLocation(
        mapId,
        new RemoteRegion(mapId << 20 | move, 1000 + mapId, (int) mapId + 1),
        new RemoteRegion(mapId << 30 | move, 64, (int) mapId + 2),
        ChecksumAlgorithm.values()[(int) (mapId % 4)]);
  }

  /** All that the executor has published is withdrawn. */
  static Publish withdrawal(String executorId) {
    return new Publish(endpoint(executorId), List.of(new Published(SHUFFLE, null)));
  }

  static Publish publish(String executorId, MapOutputLocation... locations) {
    List<Published> outputs =
        Arrays.stream(locations).map(location -> new Published(SHUFFLE, location)).toList();
    return new Publish(endpoint(executorId), outputs);
  }
}
