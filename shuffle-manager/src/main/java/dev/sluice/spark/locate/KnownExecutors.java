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

/** What an executor knows of the others: the driver's {@link ExecutorTable} at some version. */
final class KnownExecutors {
  private final Map<String, Arrival> byId = new HashMap<>();
  private final Consumer<PeerAddress> lost;
  private int version;

  /**
   * @param lost is told of servers that are gone, with all executors that they served
   */
  KnownExecutors(Consumer<PeerAddress> lost) {
    this.lost = lost;
  }

  synchronized int version() {
    return version;
  }

  /** The executor's endpoint; null where it has none. */
  synchronized ExecutorEndpoint endpoint(String executorId) {
    Arrival known = byId.get(executorId);
    return known == null ? null : known.endpoint();
  }

  /** The number by which records name the executor; NONE where it is not known. */
  synchronized int number(String executorId) {
    Arrival known = byId.get(executorId);
    return known == null ? ExecutorTable.NONE : known.number();
  }

  /** Takes what is new since some version that was known; something newer may have arrived. */
  void update(LiveExecutors news) {
    Set<PeerAddress> gone;
    synchronized (this) {
      if (news.version() <= version) {
        return;
      }
      List<ExecutorEndpoint> removed = news.staying() == null ? List.of() : removeAllBut(news);
      news.arrived().forEach(arrival -> byId.put(arrival.endpoint().executorId(), arrival));
      gone =
          removed.stream()
              .filter(endpoint -> !endpoint.outlivesExecutor() || !serves(endpoint.peer()))
              .map(ExecutorEndpoint::peer)
              .collect(Collectors.toSet());
      version = news.version();
    }
    gone.forEach(lost);
  }

  private boolean serves(PeerAddress peer) {
    return byId.values().stream().anyMatch(known -> known.endpoint().peer().equals(peer));
  }

  private List<ExecutorEndpoint> removeAllBut(LiveExecutors news) {
    Set<Integer> live = new HashSet<>(news.staying());
    news.arrived().forEach(arrival -> live.add(arrival.number()));
    List<ExecutorEndpoint> removed = new ArrayList<>();
    byId.values()
        .removeIf(known -> !live.contains(known.number()) && removed.add(known.endpoint()));
    return removed;
  }
}
