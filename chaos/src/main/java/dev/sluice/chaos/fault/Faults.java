// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.fault.ExecutorFaults.InjectedFault;
import dev.sluice.chaos.fault.ExecutorFaults.Mappings;
import dev.sluice.chaos.fault.ExecutorFaults.ShuffleRemoved;
import dev.sluice.chaos.fault.ExecutorFaults.SlowDisk;
import dev.sluice.chaos.fault.ExecutorFaults.TasksKilled;
import dev.sluice.chaos.fault.Fault.Moment;
import dev.sluice.chaos.fault.Fault.Setup;
import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.inject.Injection;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.Resource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * List of all faults, read from {@code faults.txt}, which explains its format. The command and its
 * drivers both load it and look faults up by name, on their main threads. Each process has one
 * object for each action, for all its runs. To add a fault, write a line there and, if nothing
 * exists that causes it, a {@link FaultAction}.
 */
public final class Faults {
  /** Kills any executor, as kill -9 does. */
  static final FaultAction KILL = (cluster, random) -> cluster.any(random).kill();

  private static final Set<String> TERMS =
      Set.of(
          "shared", "within", "lasts", "cluster", "alone", "spoils", "only", "not", "soft",
          "leases");

  /** Settings by the names of clusters; "all" has those of each. */
  static final Map<String, Map<String, String>> CLUSTERS = clusters();

  public static final List<Fault> ALL = read();

  private Faults() {}

  private static List<Fault> read() {
    List<Fault> all = new ArrayList<>();
    for (String line : lines("faults.txt")) {
      String[] cells = line.split("\\s*\\|\\s*");
      if (cells[0].equals("staged")) {
        Stream.of(cells[1].split(" ")).map(name -> named(name, all).staged()).forEach(all::add);
      } else {
        Fault fault = fault(cells, all);
        all.add(fault.terms().containsKey("leases") ? fault.staged() : fault);
      }
    }
    return List.copyOf(all);
  }

  /** Returns the lines of a resource without comments, and with continued lines as one. */
  private static List<String> lines(String resource) {
    return Resource.text(Faults.class, resource)
        .replaceAll("\\\\\n\\s*", "")
        .lines()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .toList();
  }

  /** Reads settings by the names of clusters, several of which may be in a heading. */
  private static Map<String, Map<String, String>> clusters() {
    Map<String, Map<String, String>> clusters = new HashMap<>();
    String[] names = {};
    for (String line : lines("clusters.txt")) {
      if (line.startsWith("[")) {
        names = line.substring(1, line.length() - 1).split(" ");
        continue;
      }
      String[] setting = line.split("=", 2);
      for (String name : names) {
        clusters.computeIfAbsent(name, _ -> new HashMap<>()).put(setting[0], setting[1]);
      }
    }
    return clusters;
  }

  /**
   * @param before faults of the lines before
   * @throws IllegalArgumentException if a term is unknown, which would have no effect
   */
  static Fault fault(String[] cells, List<Fault> before) {
    String[] words = cells[2].split(" ");
    Map<String, String> terms = new HashMap<>();
    for (String term : cells[3].split(" ")) {
      String[] parts = term.split("=", 2);
      if (!term.isEmpty() && !TERMS.contains(parts[0])) {
        throw new IllegalArgumentException("unknown term " + term + " of fault " + cells[0]);
      }
      terms.put(parts[0], parts.length == 1 ? "" : parts[1]);
    }
    List<Fault> choices =
        words[0].equals("choose")
            ? Stream.of(words).skip(1).map(name -> named(name, before)).toList()
            : List.of();
    FaultAction action = action(words);
    String cluster = terms.containsKey("alone") ? cells[0] : terms.getOrDefault("cluster", "");
    Map<String, String> settings = new HashMap<>(CLUSTERS.getOrDefault("all", Map.of()));
    settings.putAll(CLUSTERS.getOrDefault(cluster, Map.of()));
    return new Fault(
        cells[0],
        cells[4],
        Moment.valueOf(cells[1].toUpperCase(Locale.ROOT)),
        action,
        action.evidence(),
        terms,
        setup(cluster, action),
        settings,
        choices);
  }

  private static Setup setup(String cluster, FaultAction action) {
    return switch (cluster) {
      case "node" -> new Setups.NodeDaemon();
      case "allocation-service" -> new Setups.ShuffleService();
      case "decommission-fallback" -> Setups::fallbackStorage;
      default -> action instanceof Setup own ? own : _ -> Map.of();
    };
  }

  private static FaultAction action(String[] words) {
    return switch (words[0]) {
      case "nothing", "choose" -> (_, _) -> {};
      case "inject" -> InjectedFault.of(rates(words));
      case "configured" -> new InjectedFault(Map.of(), List.of(Evidence.of(words[1])));
      case "mappings" -> new Mappings();
      case "descriptors" -> ExecutorFaults.fewDescriptors();
      case "kill" -> KILL;
      case "kill-at" -> AtEvent.killed(rates(words));
      case "kill-copying" -> new AtEvent.Copying(AtEvent.killed(rates(words)));
      case "stop" -> ExecutorFaults.stopped(Cluster::any);
      case "stop-at" -> AtEvent.stopped(rates(words));
      case "stop-copying" -> new AtEvent.Copying(AtEvent.stopped(rates(words)));
      case "damage" -> new FilesDamaged(cluster -> cluster.shuffleFiles(words[1]), words[2]);
      case "unregister" -> new ShuffleRemoved();
      case "kill-tasks" -> new TasksKilled();
      case "decommission" -> ExecutorFaults.leaving(Cluster::decommission);
      case "remove" -> ExecutorFaults.leaving(Cluster::remove);
      case "fill-disk" -> new MachineFaults.FullDisk();
      case "silence-disk" -> new MachineFaults.SilentDisk();
      case "slow-disk" -> new SlowDisk();
      case "cable" -> new MachineFaults.Cable(Stream.of(words).skip(1).toList());
      case "kill-node" -> ExecutorFaults.nodeKilled();
      case "stop-node" ->
          ExecutorFaults.stopped((cluster, _) -> ExecutorProcess.of(cluster.node()));
      case "remove-socket" -> ExecutorFaults.nodeSocketGone();
      case "damage-node" -> new FilesDamaged(FilesDamaged::nodeIndexes, words[1]);
      default -> throw new IllegalArgumentException("unknown action " + words[0]);
    };
  }

  /** Returns the rates of injections in words such as BAD_KEY=0.1; the first makes the fault. */
  private static Map<Injection, Double> rates(String[] words) {
    Map<Injection, Double> rates = new LinkedHashMap<>();
    for (String word : words) {
      String[] parts = word.split("=");
      if (parts.length == 2) {
        rates.put(Injection.valueOf(parts[0]), Double.valueOf(parts[1]));
      }
    }
    return rates;
  }

  /**
   * @throws IllegalArgumentException if there is no fault of that name
   */
  public static Fault named(String name) {
    return named(name, ALL);
  }

  private static Fault named(String name, List<Fault> among) {
    return among.stream()
        .filter(fault -> fault.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown fault '" + name + "'"));
  }
}
