// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.cluster;

import dev.sluice.chaos.inject.ChaosAgent;
import dev.sluice.chaos.inject.ChaosAgent.Status;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Leak check: finds resources that executors still hold after a run, when its shuffles are removed.
 * Some are freed a moment later, so it repeats until nothing is left or the time is over. {@code
 * ChaosJob} has one for all its runs; the driver's main thread calls it after each, when the fault
 * is healed and the shuffles are removed.
 */
public final class LeakCheck {
  /** Time after which a resource that is still held counts as leaked. */
  private static final long SETTLE_MS = 15_000;

  /** Allowed growth since the second run: connections, threads of pools. */
  private static final long GROWTH = 40;

  /** Queue pairs to each peer: one, and one that is being replaced. */
  private static final int MOST_READING = 2;

  /**
   * Serving queue pairs for each peer. If a control connection breaks, the peer cannot say which
   * ones it has closed; these stay until their limit is reached.
   */
  private static final int MOST_SERVING = 32;

  /** Prefix of Sluice's threads. Spark keeps a hundred others for a minute after a removal. */
  private static final String OWN_THREADS = "sluice-";

  /** Counters of Sluice that are 0 when no shuffle is left. */
  private static final List<String> FREED =
      List.of(
          "registry.registered-bytes",
          "registry.registered-regions",
          "registry.staging-bytes-in-use",
          "transfer.buffer-bytes-in-use",
          "transfer.buffers-given-up");

  private final Cluster cluster;
  private final Map<ExecutorProcess, Map<String, Long>> first = new HashMap<>();

  /** Processes that ran at the end of the run before, which have opened all that they need. */
  private Set<ExecutorProcess> settled = Set.of();

  public LeakCheck(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Returns descriptions of the resources that remain at the end. */
  public List<String> await() throws Exception {
    List<String> left = new ArrayList<>();
    Poll.until(
        SETTLE_MS,
        () -> {
          left.clear();
          look(left);
          return left.isEmpty();
        });
    Set<ExecutorProcess> present = new HashSet<>(cluster.executors());
    present.add(ExecutorProcess.driver());
    if (cluster.hasNode()) {
      present.add(ExecutorProcess.of(cluster.node()));
    }
    present.stream()
        .filter(settled::contains)
        .forEach(process -> first.computeIfAbsent(process, LeakCheck::held));
    settled = present;
    return left;
  }

  private void look(List<String> left) throws IOException, InterruptedException {
    if (cluster.isSluice()) {
      Map<ExecutorProcess, Optional<Status>> statuses = cluster.statuses();
      statuses.forEach(
          (executor, status) ->
              status.ifPresentOrElse(
                  held -> addHeld(executor, held, statuses.size() - 1, left),
                  () -> left.add("executor %s runs but does not answer".formatted(executor.id()))));
    }
    for (ExecutorProcess executor : cluster.executors()) {
      addFiles(executor, left);
      addGrowth(executor, left);
    }
    addGrowth(ExecutorProcess.driver(), left);
    if (cluster.hasNode()) {
      addNode(left);
    }
  }

  private static void addHeld(
      ExecutorProcess executor, Status status, int peers, List<String> left) {
    if (status.readingQueuePairs() > MOST_READING * peers
        || status.servingQueuePairs() > MOST_SERVING * peers) {
      left.add(
          "executor %s has %d queue pairs to READ and %d to serve, for %d peers"
              .formatted(
                  executor.id(), status.readingQueuePairs(), status.servingQueuePairs(), peers));
    }
    if (!status.shuffleFiles().isEmpty()) {
      left.add("executor %s has shuffle files: %s".formatted(executor.id(), status.shuffleFiles()));
    }
    Map<String, Long> held = new TreeMap<>();
    long staging = status.counters().getOrDefault("registry.staging-regions", 0L);
    held.put("regions that peers may READ", status.servedRegions() - staging);
    held.put("outstanding READs", (long) status.underWay());
    held.put("READs into memory that was in use", status.overlaps());
    FREED.forEach(counter -> held.put(counter, status.counters().getOrDefault(counter, 0L)));
    held.values().removeIf(count -> count == 0);
    held.forEach(
        (what, count) -> left.add("executor %s: %d %s".formatted(executor.id(), count, what)));
  }

  private static void addFiles(ExecutorProcess executor, List<String> left) {
    executor.mappedFiles().stream()
        .filter(line -> line.contains("/shuffle_"))
        .forEach(line -> left.add("executor %s maps %s".formatted(executor.id(), line)));
    executor.descriptors().stream()
        .filter(target -> target.contains("/shuffle_"))
        .forEach(target -> left.add("executor %s has %s open".formatted(executor.id(), target)));
  }

  /** Adds the node daemon's resources of removed shuffles, and its open files. */
  private void addNode(List<String> left) throws IOException {
    for (String what :
        List.of("map_outputs", "registry_registered_regions", "registry_staging_bytes_in_use")) {
      long count = cluster.node().metric(what);
      if (count != 0) {
        left.add("node daemon: %d %s".formatted(count, what));
      }
    }
    ExecutorProcess process = ExecutorProcess.of(cluster.node());
    process.descriptors().stream()
        .filter(target -> target.contains("/.sluice/") && !target.endsWith("/lock"))
        .forEach(target -> left.add("node daemon has %s open".formatted(target)));
    addGrowth(process, left);
  }

  private void addGrowth(ExecutorProcess executor, List<String> left) {
    Map<String, Long> now = held(executor);
    Map<String, Long> before = first.getOrDefault(executor, now);
    for (String what : List.of("descriptors", "own threads")) {
      if (now.getOrDefault(what, 0L) > before.getOrDefault(what, 0L) + GROWTH) {
        left.add(
            "process %s: %s grew from %d to %d, descriptors now: %s"
                .formatted(executor.id(), what, before.get(what), now.get(what), kinds(executor)));
      }
    }
  }

  /** Counts open descriptors by kind: sockets, pipes, files with the same suffix. */
  private static Map<String, Long> kinds(ExecutorProcess executor) {
    return executor.descriptors().stream()
        .map(target -> target.replaceFirst("^(socket|pipe):.*", "$1").replaceFirst(".*\\.", ""))
        .collect(Collectors.groupingBy(kind -> kind, TreeMap::new, Collectors.counting()));
  }

  /** Returns the maximum that an executor holds of each resource, and the driver's amounts. */
  public Map<String, Long> held() throws IOException, InterruptedException {
    Map<String, Long> most = new TreeMap<>();
    for (ExecutorProcess executor : cluster.executors()) {
      held(executor).forEach((what, count) -> most.merge(what, count, Math::max));
    }
    held(ExecutorProcess.driver()).forEach((what, count) -> most.put("driver " + what, count));
    most.put("driver heap", ChaosAgent.liveHeapBytes());
    if (cluster.isSluice()) {
      for (Optional<Status> status : cluster.statuses().values()) {
        most.merge("heap", status.map(Status::heapBytes).orElse(0L), Math::max);
        most.merge("READs broken", status.map(Status::mostBroken).orElse(0L), Math::max);
      }
    }
    return most;
  }

  private static Map<String, Long> held(ExecutorProcess process) {
    List<String> threads = process.threads();
    return Map.of(
        "descriptors", (long) process.descriptors().size(),
        "threads", (long) threads.size(),
        "own threads", threads.stream().filter(name -> name.startsWith(OWN_THREADS)).count(),
        "mapped files", (long) process.mappedFiles().size(),
        "resident", process.residentKib() << 10);
  }
}
