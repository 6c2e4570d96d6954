// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Arrival;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Executors whose map outputs are served, by themselves or by their node daemons. The {@link
 * LocationDirectory} has one and uses it under its lock. An executor takes some 200 bytes. The
 * table keeps a lost executor only if its node has map outputs of it. If executor and node have
 * them, the executor serves until it is lost, then its node does.
 *
 * <p>The table's version is the number of its last change, and an executor's number is that of its
 * arrival. A reader that knows a version gets the executors that arrived since. If any was lost
 * since, it also gets the numbers of those that stay: 4 KB at 1,000 executors, for each asker once
 * a second at most. In return the table keeps nothing for askers that may never come.
 */
final class ExecutorTable {
  /** Number that no executor has: numbers begin at 1. */
  static final int NONE = 0;

  private final TreeMap<Integer, ExecutorEndpoint> byNumber = new TreeMap<>();
  private final Map<String, Integer> numbers = new HashMap<>();

  /** Node daemons that have map outputs, by the executor that wrote them. */
  private final Map<String, ExecutorEndpoint> nodes = new HashMap<>();

  private int version;
  private int lastLoss;

  /** Returns the executor's number; NONE if it has none, or had another endpoint. */
  int number(ExecutorEndpoint endpoint) {
    int number = numbers.getOrDefault(endpoint.executorId(), NONE);
    return endpoint.equals(byNumber.get(number)) ? number : NONE;
  }

  /** Adds an executor that arrives, and returns its number. */
  int add(ExecutorEndpoint endpoint) {
    byNumber.put(++version, endpoint);
    numbers.put(endpoint.executorId(), version);
    return version;
  }

  /**
   * Records that the executor's node has its map outputs, or some of them.
   *
   * @return true if the node serves them, false if the executor does
   */
  boolean addNode(ExecutorEndpoint endpoint) {
    nodes.put(endpoint.executorId(), endpoint);
    ExecutorEndpoint serving = serving(endpoint.executorId());
    return serving == null || serving.outlivesExecutor();
  }

  private @Nullable ExecutorEndpoint serving(String executorId) {
    return byNumber.get(numbers.getOrDefault(executorId, NONE));
  }

  /** Forgets the executor's map outputs at its node. */
  void removeNode(String executorId) {
    nodes.remove(executorId);
  }

  /** Removes a lost executor, and returns its number; NONE if it had none. */
  int remove(String executorId) {
    Integer number = numbers.remove(executorId);
    if (number == null) {
      return NONE;
    }
    byNumber.remove(number);
    lastLoss = ++version;
    return number;
  }

  /** Returns the node daemon with the executor's map outputs, also after the executor is lost. */
  Optional<ExecutorEndpoint> node(String executorId) {
    return Optional.ofNullable(nodes.get(executorId));
  }

  /** Returns all node daemons, and their providers. */
  Map<PeerAddress, String> nodeProviders() {
    Map<PeerAddress, String> providers = new HashMap<>();
    nodes.values().forEach(endpoint -> providers.put(endpoint.peer(), endpoint.provider()));
    return providers;
  }

  /** Returns the executors that have map outputs at any node. */
  Set<String> atNodes() {
    return nodes.keySet();
  }

  /** Returns the executors that have map outputs at the given node. */
  List<ExecutorEndpoint> at(PeerAddress node) {
    return nodes.values().stream().filter(endpoint -> endpoint.peer().equals(node)).toList();
  }

  /** Replaces a node daemon that was restarted: all executors that it serves arrive again. */
  void replace(PeerAddress node, PeerAddress successor, String provider) {
    for (ExecutorEndpoint before : at(node)) {
      ExecutorEndpoint now = new ExecutorEndpoint(before.executorId(), successor, provider);
      nodes.put(now.executorId(), now);
      if (before.equals(serving(now.executorId()))) {
        remove(now.executorId());
        add(now);
      }
    }
  }

  /** Returns the changes since a version. */
  LiveExecutors since(int known) {
    List<Arrival> arrived =
        byNumber.tailMap(known, false).entrySet().stream()
            .map(executor -> new Arrival(executor.getKey(), executor.getValue()))
            .toList();
    Optional<List<Integer>> staying =
        lastLoss > known
            ? Optional.of(List.copyOf(byNumber.headMap(known, true).keySet()))
            : Optional.empty();
    return new LiveExecutors(version, arrived, staying);
  }
}
