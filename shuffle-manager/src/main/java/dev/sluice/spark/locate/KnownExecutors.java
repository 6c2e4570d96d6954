// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Arrival;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An executor's copy of the driver's {@link ExecutorTable}, at some version. {@link LocatorClient}
 * has one for all shuffles. Any thread; private methods need the lock. {@link ShuffleTable} calls
 * it with its own lock, so nothing else may be called with this one: losses are told without it.
 */
final class KnownExecutors {
  private final Map<String, Arrival> byId = new HashMap<>();
  private final Consumer<PeerAddress> lost;
  private int version;

  /**
   * @param lost is told of servers that are lost, with all executors that they served
   */
  KnownExecutors(Consumer<PeerAddress> lost) {
    this.lost = lost;
  }

  synchronized int version() {
    return version;
  }

  /** Returns the executor's endpoint; null if it has none. */
  synchronized @Nullable ExecutorEndpoint endpoint(String executorId) {
    Arrival known = byId.get(executorId);
    return known == null ? null : known.endpoint();
  }

  /** Returns the number by which records name the executor; NONE if it is not known. */
  synchronized int number(String executorId) {
    Arrival known = byId.get(executorId);
    return known == null ? ExecutorTable.NONE : known.number();
  }

  /** Applies changes since a version that was known, unless newer ones have arrived before. */
  void update(LiveExecutors news) {
    Set<PeerAddress> gone;
    synchronized (this) {
      if (news.version() <= version) {
        return;
      }
      List<ExecutorEndpoint> removed =
          news.staying().map(staying -> removeAllBut(staying, news.arrived())).orElse(List.of());
      news.arrived().forEach(arrival -> byId.put(arrival.endpoint().executorId(), arrival));
      gone =
          removed.stream()
              .filter(this::isLost)
              .map(ExecutorEndpoint::peer)
              .collect(Collectors.toSet());
      version = news.version();
    }
    gone.forEach(lost);
  }

  /** Returns false for a node that serves others, or has copies for an executor serving itself. */
  private boolean isLost(ExecutorEndpoint removed) {
    Arrival now = byId.get(removed.executorId());
    boolean servesItself = now != null && !now.endpoint().outlivesExecutor();
    return !removed.outlivesExecutor() || !servesItself && !serves(removed.peer());
  }

  private boolean serves(PeerAddress peer) {
    return byId.values().stream().anyMatch(known -> known.endpoint().peer().equals(peer));
  }

  private List<ExecutorEndpoint> removeAllBut(List<Integer> staying, List<Arrival> arrived) {
    Set<Integer> live = new HashSet<>(staying);
    arrived.forEach(arrival -> live.add(arrival.number()));
    List<ExecutorEndpoint> removed = new ArrayList<>();
    byId.values()
        .removeIf(known -> !live.contains(known.number()) && removed.add(known.endpoint()));
    return removed;
  }
}
