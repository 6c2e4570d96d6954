package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.NetworkParts;
import dev.sluice.benchmarks.read.RequestLoad;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** READs by one executor, spread evenly over peers. As a {@link RequestLoad}, which it closes. */
final class ReadLoad implements AutoCloseable {
  static final int READ_BYTES = 16;

  private final int ranges;
  private final RequestLoad load;

  /**
   * @param inFlight requests under way at a time
   * @param ranges READs of one request, all from one peer, as a fetch has one for each block
   */
  ReadLoad(RdmaEndpoint endpoint, int inFlight, int ranges)
      throws IOException, InterruptedException {
    this.ranges = ranges;
    load = new RequestLoad(endpoint, inFlight, ranges * READ_BYTES);
  }

  /** Nanoseconds of one request. */
  long measureOne(NetworkParts peer) throws IOException, InterruptedException {
    return measure(List.of(peer), 1);
  }

  /** Nanoseconds of so many requests, from the peers in turn. */
  long measure(List<NetworkParts> peers, int count) throws IOException, InterruptedException {
    return load.measure(count, i -> place(peers.get(i % peers.size()), i));
  }

  /** Apart from one another, as the blocks of one reducer are. */
  private RequestLoad.Place place(NetworkParts peer, int request) {
    List<RemoteRegion> places = new ArrayList<>();
    for (int range = 0; range < ranges; range++) {
      long index = (long) request * ranges + range;
      long offset = 2 * index * READ_BYTES % (NetworkParts.MEMORY_BYTES - READ_BYTES);
      places.add(
          new RemoteRegion(peer.memory().address() + offset, READ_BYTES, peer.memory().rkey()));
    }
    return new RequestLoad.Place(peer.address(), places);
  }

  @Override
  public void close() {
    load.close();
  }
}
