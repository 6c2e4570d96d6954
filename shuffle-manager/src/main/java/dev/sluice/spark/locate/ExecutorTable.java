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
import java.util.stream.Collectors;

/**
 * The executors that wrote map outputs which are served, by themselves or by their nodes, in the
 * {@link LocationDirectory}, under whose lock it is used. An executor takes some 200 bytes. Of
 * those that are gone it keeps only those whose map outputs their nodes have. Where both have them,
 * the executor serves as long as it is there, and its node from then on.
 *
 * <p>It has a version, which is the number of the last change, and an executor's number is that of
 * its arrival. Who knows a version gets those that came since; if any is gone since, the numbers of
 * those that stay as well: 4 KB at 1,000 executors, for each asker once a second at most, and
 * nothing has to be kept for askers who may never come.
 */
final class ExecutorTable {
  static final int NONE = 0;

  private final TreeMap<Integer, ExecutorEndpoint> byNumber = new TreeMap<>();
  private final Map<String, Integer> numbers = new HashMap<>();

  /** The block servers of nodes that have what executors wrote, by executor. */
  private final Map<String, ExecutorEndpoint> nodes = new HashMap<>();

  private int version;
  private int lastLoss;

  /** The executor's number; NONE where it has none, or had another endpoint. */
  int number(ExecutorEndpoint endpoint) {
    int number = numbers.getOrDefault(endpoint.executorId(), NONE);
    return endpoint.equals(byNumber.get(number)) ? number : NONE;
  }

  /** The number of an executor that comes. */
  int add(ExecutorEndpoint endpoint) {
    byNumber.put(++version, endpoint);
    numbers.put(endpoint.executorId(), version);
    return version;
  }

  /**
   * The executor's node has what it writes, as well or alone.
   *
   * @return whether it is the node that serves it
   */
  boolean addNode(ExecutorEndpoint endpoint) {
    nodes.put(endpoint.executorId(), endpoint);
    ExecutorEndpoint serving = serving(endpoint.executorId());
    return serving == null || serving.outlivesExecutor();
  }

  private ExecutorEndpoint serving(String executorId) {
    return byNumber.get(numbers.getOrDefault(executorId, NONE));
  }

  /** What nodes have of the executor is not looked for any more. */
  void removeNode(String executorId) {
    nodes.remove(executorId);
  }

  /** The number of an executor that is gone; NONE where it had none. */
  int remove(String executorId) {
    Integer number = numbers.remove(executorId);
    if (number == null) {
      return NONE;
    }
    byNumber.remove(number);
    lastLoss = ++version;
    return number;
  }

  /** The node's block server that has what the executor wrote, also when that is gone. */
  Optional<ExecutorEndpoint> node(String executorId) {
    return Optional.ofNullable(nodes.get(executorId));
  }

  /** The block servers of nodes. */
  Set<PeerAddress> nodes() {
    return nodes.values().stream().map(ExecutorEndpoint::peer).collect(Collectors.toSet());
  }

  /** The executors of which nodes' block servers have map outputs. */
  Set<String> atNodes() {
    return nodes.keySet();
  }

  /** The executors of which a node's block server has map outputs. */
  List<ExecutorEndpoint> at(PeerAddress node) {
    return nodes.values().stream().filter(endpoint -> endpoint.peer().equals(node)).toList();
  }

  /** A block server of a node was started again: whoever it serves comes anew. */
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

  /** What is new to someone who knows that version. */
  LiveExecutors since(int known) {
    List<Arrival> arrived =
        byNumber.tailMap(known, false).entrySet().stream()
            .map(executor -> new Arrival(executor.getKey(), executor.getValue()))
            .toList();
    List<Integer> staying =
        lastLoss > known ? List.copyOf(byNumber.headMap(known, true).keySet()) : null;
    return new LiveExecutors(version, arrived, staying);
  }
}
