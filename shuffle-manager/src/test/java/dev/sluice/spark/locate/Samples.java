// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Locations, endpoints and messages for tests. */
final class Samples {
  static final int SHUFFLE = 7;

  private static final int SLOTS = 8;

  private Samples() {}

  static ExecutorEndpoint endpoint(String executorId) {
    return new ExecutorEndpoint(new PeerAddress(executorId, "host-" + executorId, 4000), "soft");
  }

  /** Returns the endpoint of an executor with map outputs at a node daemon. */
  static ExecutorEndpoint atNode(String executorId, String nodeId) {
    return new ExecutorEndpoint(executorId, new PeerAddress(nodeId, "host", 5000), "soft");
  }

  /** Returns a location that differs for each map id. */
  static MapOutputLocation location(long mapId) {
    return location(mapId, 0);
  }

  /** Returns another location of the same map output. */
  static MapOutputLocation location(long mapId, int move) {
    int slot = (int) (mapId % SLOTS);
    long number = 1 + mapId / SLOTS; // Registered memory is not at address 0.
    RemoteRegion region =
        new RemoteRegion(number << 20 | move, TableSegment.bytes(SLOTS, 3), (int) number + 1);
    return new MapOutputLocation(mapId, new TableSegment(region, SLOTS), slot);
  }

  /** Returns the bytes of a log with locations [0, count) of one executor. */
  static int logBytes(int count) {
    LocationLog log = new LocationLog();
    for (int i = 0; i < count; i++) {
      log.append(1, location(i));
    }
    return log.bytes();
  }

  /** A location in a log, with the number of its executor. */
  record Logged(int executor, MapOutputLocation location) {
    long mapId() {
      return location.mapId();
    }
  }

  /** Returns the locations in logs, each of which continues the previous one. */
  static List<Logged> read(byte[]... logs) throws IOException {
    List<Logged> read = new ArrayList<>();
    LocationReader reader = new LocationReader();
    for (byte[] log : logs) {
      LocationReader.Locations locations = reader.read(log);
      for (int i = 0; i < locations.count(); i++) {
        int place = locations.places()[i];
        read.add(new Logged(reader.executor(place), reader.location(locations.mapIds()[i], place)));
      }
    }
    return read;
  }

  /** Withdraws all locations that the executor has published. */
  static Publish withdrawal(String executorId) {
    return new Publish(endpoint(executorId), List.of(new Published(SHUFFLE, null)));
  }

  static Publish publish(String executorId, MapOutputLocation... locations) {
    List<Published> outputs =
        Arrays.stream(locations).map(location -> new Published(SHUFFLE, location)).toList();
    return new Publish(endpoint(executorId), outputs);
  }
}
