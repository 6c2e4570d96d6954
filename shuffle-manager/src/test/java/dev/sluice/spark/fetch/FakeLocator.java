// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Locator that has the locations of the test. */
final class FakeLocator implements Locator {
  private final Executor completions;
  private final Map<Long, MapOutputLocation> locations = new HashMap<>();
  private final List<MapOutputLocation> invalidated = new ArrayList<>();
  private final List<Integer> prepared = new ArrayList<>();
  private final List<String> executorsAsked = new ArrayList<>();
  private Consumer<MapOutputLocation> onInvalidate = location -> {};
  private PeerAddress peer = new PeerAddress("7", "peer", 1234);
  private boolean silent;

  FakeLocator(Executor completions) {
    this.completions = completions;
  }

  void put(MapOutputLocation location) {
    locations.put(location.mapId(), location);
  }

  void peer(PeerAddress newPeer) {
    peer = newPeer;
  }

  /** Leaves all requests without an answer from now on. */
  void silence() {
    silent = true;
  }

  void onInvalidate(Consumer<MapOutputLocation> action) {
    onInvalidate = action;
  }

  List<MapOutputLocation> invalidated() {
    return invalidated;
  }

  List<Integer> prepared() {
    return prepared;
  }

  List<String> executorsAsked() {
    return executorsAsked;
  }

  @Override
  public void prepare(int shuffleId) {
    prepared.add(shuffleId);
  }

  @Override
  public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
    executorsAsked.add(executorId);
    CompletableFuture<Located> answer = new CompletableFuture<>();
    MapOutputLocation[] outputs =
        Arrays.stream(mapIds).mapToObj(locations::get).toArray(MapOutputLocation[]::new);
    if (!silent) {
      completions.execute(() -> answer.complete(new Located(peer, outputs)));
    }
    return answer;
  }

  @Override
  public void invalidate(int shuffleId, MapOutputLocation stale) {
    invalidated.add(stale);
    onInvalidate.accept(stale);
  }
}
