// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.fault.ExecutorFaults.InjectedFault;
import dev.sluice.chaos.fault.ExecutorFaults.ShuffleRemoved;
import dev.sluice.chaos.fault.ExecutorFaults.SlowDisk;
import dev.sluice.chaos.fault.ExecutorFaults.StoppedProcess;
import dev.sluice.chaos.fault.ExecutorFaults.TasksKilled;
import dev.sluice.chaos.fault.Fault.Moment;
import dev.sluice.chaos.fault.FaultAction.Evidence;
import dev.sluice.chaos.inject.Injection;
import dev.sluice.testkit.Commands;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * List of all faults, which the command and its drivers both load and look up by name, on their
 * main threads. The order matters: it decides which three workloads a fault gets. Each process has
 * one object for each fault, for all its runs. To add one, write a line in a list and, if nothing
 * exists that causes it, a {@link FaultAction}.
 */
public final class Faults {
  /** Map stage and failed reduce stage, both twice if both were running. */
  static final int STAGE_RETRIES = 4;

  /** Kills any executor, as kill -9 does. */
  static final FaultAction KILL = (cluster, random) -> cluster.any(random).kill();

  private static final List<Fault> SINGLE =
      List.of(
          new Fault("none", "no fault", Moment.BEFORE, (_, _) -> {}),
          injected(Injection.BAD_KEY, "READs with a wrong key", 0.1),
          injected(Injection.BAD_ADDRESS, "READs outside their region", 0.1),
          injected(Injection.READER_ERROR, "queue pairs that READ go to ERROR", 0.2),
          injected(Injection.SERVER_ERROR, "queue pairs that serve go to ERROR", 0.05),
          // Encrypted blocks have no checksums, so only Spark can notice falsified bytes in them.
          injected(Injection.CORRUPT, "bytes change on their way", 0.1)
              .allowing(
                  workload -> !workload.settings().containsKey("spark.io.encryption.enabled")),
          injected(Injection.SLOW_POST, "posting READs is slow", 0.2),
          // Afterwards little is registered for a while, so that little can fail.
          injected(Injection.REGISTER_ENOMEM, "registration fails with ENOMEM", 0.4).spoiling(),
          injected(
              "queue-pair-enomem",
              "creating queue pairs fails with ENOMEM",
              Injection.QUEUE_PAIR_ENOMEM,
              0.5,
              Map.of(Injection.READER_ERROR, 0.2)),
          new Fault(
                  "mappings",
                  "an executor can map no more memory for 2 s",
                  Moment.BEFORE,
                  new ExecutorFaults.Mappings())
              .shared(STAGE_RETRIES, 1)
              .lasting(2_000)
              .wanting("cogroup", "group-by", "sort-by-key") // workloads that write early
              .alone(),
          injected(Injection.PUBLISH_LOST, "messages that publish map outputs are lost", 0.5),
          injected(Injection.PUBLISH_LATE, "messages that publish map outputs are late", 0.5),
          injected(
              Injection.PUBLISH_TWICE, "messages that publish map outputs are sent twice", 0.5),
          injected(Injection.DRIVER_SLOW, "requests to the driver are slow", 0.5),
          injected(Injection.DRIVER_UNREACHABLE, "requests to the driver fail", 0.5),
          control(Injection.CONTROL_REFUSED, "connections are refused", 0.7),
          control(Injection.CONTROL_RESET, "connections are reset", 0.3),
          control(Injection.CONTROL_HALF_OPEN, "connections do not answer", 0.7),
          control(Injection.CONTROL_TRICKLE, "connections pass 1 byte/s", 0.7),
          control(Injection.CONTROL_TRUNCATED, "messages are cut off", 0.3),
          control(Injection.CONTROL_OVERSIZED, "messages are too long", 0.3),
          control(Injection.CONTROL_GARBAGE, "messages have random bytes between them", 0.3),
          control(Injection.CONTROL_REPLAYED, "messages are sent twice", 0.5),
          killed("killed-writing", "kill -9 of an executor while map tasks write", Moment.MAP),
          killed("killed-reading", "kill -9 of an executor while reduce tasks read", Moment.REDUCE),
          killed(
                  "killed-on-its-ports",
                  "kill -9 of an executor while reduce tasks read; another one gets its ports",
                  Moment.REDUCE)
              .alone(
                  _ ->
                      Map.of(
                          "spark.shuffle.rdma.port", "17000",
                          "spark.shuffle.rdma.dataPort", "19000")),
          killedBeforePublishing(
              "killed-before-resolve",
              "kill -9 of an executor when a RESOLVE arrives",
              Injection.HALT_BEFORE_RESOLVE),
          killedBeforePublishing(
              "killed-in-resolve",
              "kill -9 of an executor that is answering a RESOLVE",
              Injection.HALT_IN_RESOLVE),
          killedBeforePublishing(
              "killed-after-resolve",
              "kill -9 of an executor that has answered a RESOLVE",
              Injection.HALT_AFTER_RESOLVE),
          killedAt(
              "killed-in-read",
              "kill -9 of an executor by a peer that has just posted READs",
              Map.of(Injection.KILL_VICTIM, 0.2)),
          StoppedProcess.of(5),
          StoppedProcess.of(30),
          StoppedProcess.of(120),
          FilesDamaged.fault(
              "file-deleted", "map output files are deleted", ".data", FilesDamaged::delete),
          FilesDamaged.fault(
              "file-truncated", "map output files are truncated", ".data", FilesDamaged::truncate),
          FilesDamaged.fault(
              "file-flipped",
              "a byte in map output files changes",
              ".data",
              FilesDamaged::flipByte),
          FilesDamaged.fault(
              "index-wrong",
              "an offset in index files is wrong",
              ".index",
              FilesDamaged::falsifyOffset),
          FilesDamaged.harmless(
              "cache-dropped",
              "map output files are dropped from the page cache",
              ".data",
              (file, _) -> Commands.dropFromCache(file)),
          reading(
                  "shuffle-removed",
                  "all executors unregister the shuffle while they READ",
                  new ShuffleRemoved())
              .shared(12, 0),
          // Spark repeats a barrier stage as a whole when one of its tasks ends.
          reading(
                  "tasks-killed",
                  "ten reduce tasks are killed one after the other while they READ",
                  new TasksKilled())
              .wanting("group-by", "cogroup", "small-blocks"),
          injected(
                  "speculation",
                  "slow READs cause speculative tasks, and Spark ends the losers",
                  Injection.SLOW_POST,
                  0.3)
              .alone(
                  _ ->
                      Map.of(
                          "spark.speculation", "true",
                          "spark.speculation.interval", "50ms",
                          "spark.speculation.multiplier", "1.01",
                          "spark.speculation.quantile", "0.1",
                          "spark.speculation.minTaskRuntime", "50ms")),
          configured(
                  "smallest-pool",
                  "64 tasks, and 1 MB of buffers per executor",
                  "transfer.buffer-waits",
                  Map.of(
                      "spark.master", "local-cluster[2,32,1536]",
                      "spark.executor.cores", "32",
                      "spark.shuffle.rdma.buffers.maxBytes", "1m"))
              .wanting("cogroup", "sort-by-key", "skewed-join"),
          soft("data-cut", "data connections are cut", "kill=0.02"),
          soft("data-refused", "peers answer READs with an error", "status=0.05:REM_OP_ERR"),
          // Tasks fail at once then, and are tried again at once.
          reading(
                  "descriptors",
                  "an executor can open no more files for 1 s",
                  new ExecutorFaults.Descriptors())
              .shared(8, 0)
              .lasting(1_000)
              .alone(_ -> Map.of("spark.task.maxFailures", "2000")),
          reading(
                  "decommission",
                  "an executor is decommissioned, and its map outputs migrate",
                  new ExecutorLeaving((cluster, executor) -> cluster.decommission(executor)))
              .shared(STAGE_RETRIES, 1)
              .alone(ExecutorLeaving::migration),
          reading(
                  "decommission-fallback",
                  "an executor is decommissioned, with fallback storage",
                  new ExecutorLeaving((cluster, executor) -> cluster.decommission(executor)))
              .shared(STAGE_RETRIES, 1)
              .alone(ExecutorLeaving::fallbackStorage),
          allocation("tracking", "shuffle tracking", ExecutorLeaving::shuffleTracking),
          allocation(
              "service", "the external shuffle service", new ExecutorLeaving.ShuffleService()),
          ownDisk("disk-full", "the local directories' disk is full for 2 s", new OwnDisk.Full())
              .shared(STAGE_RETRIES, 0)
              .within(150)
              .lasting(2_000),
          ownDisk(
                  "disk-slow",
                  "the local directories' disk does not answer for 3 s",
                  new OwnDisk.Silent())
              .within(600) // long enough to strike also after the map tasks
              .lasting(3_000),
          reading(
                  "disk-slow-at-one",
                  "one executor reads its disk at 1 MB/s for 3 s",
                  new SlowDisk())
              .within(50)
              .lasting(3_000),
          Cable.fault("packets-lost-1", "1 % of packets are lost for 5 s", 5_000, "lose", "1"),
          Cable.fault("packets-lost-5", "5 % of packets are lost for 5 s", 5_000, "lose", "5"),
          Cable.fault("packets-lost-all", "no packet arrives for 5 s", 5_000, "lose", "100"),
          Cable.fault("packets-late", "packets take 50 ms longer for 5 s", 5_000, "delay", "50"),
          Cable.fault("port-down", "both ports are down for 3 s", 3_000, "cut"),
          Cable.fault("address-removed", "a device has no IP address for 3 s", 3_000, "unaddress"));

  /** Faults of leases. */
  private static final List<Fault> LEASES =
      List.of(
          injected("late", "staging requests take longer than a lease", Injection.STAGE_LATE, 0.05),
          injected(
              "answer-late",
              "staging answers come after their leases",
              Injection.STAGED_LATE,
              0.05),
          injected(Injection.DONE_LOST, "leases are not given back", 0.7),
          injected(Injection.DONE_LATE, "leases are given back late", 0.7),
          injected(Injection.DONE_TWICE, "leases are given back twice", 0.7),
          stoppedAt(
              "stopped-asking",
              "SIGSTOP of a reader before it requests blocks",
              Injection.STOP_BEFORE_ASKING,
              1),
          stoppedAt(
              "stopped-before",
              "SIGSTOP of a server when a staging request arrives",
              Injection.STOP_BEFORE_STAGE,
              0.3),
          reading(
                  "stopped-copying",
                  "SIGSTOP of a server while it copies blocks",
                  new AtEvent.Copying(AtEvent.stopped(Injection.STOP_COPYING, 1)))
              .within(1)
              .lasting(AtEvent.STOPPED_MS),
          reading(
                  "killed-copying",
                  "kill -9 of a server while it copies blocks",
                  new AtEvent.Copying(AtEvent.killed(Map.of(Injection.HALT_COPYING, 1.0))))
              .shared(STAGE_RETRIES, 1)
              .within(1)
              .lasting(AtEvent.STOPPED_MS),
          stoppedAt(
              "stopped-after",
              "SIGSTOP of a server after its staging answer",
              Injection.STOP_AFTER_STAGE,
              0.3),
          stoppedAt(
              "stopped-reading",
              "SIGSTOP of a reader with outstanding READs",
              Injection.STOP_READING,
              0.3),
          stoppedAt(
              "stopped-read",
              "SIGSTOP of a reader before it gives a lease back",
              Injection.STOP_AFTER_READING,
              0.3),
          stoppedAt(
              "stopped-done",
              "SIGSTOP of a server when a lease is given back",
              Injection.STOP_BEFORE_DONE,
              0.3));

  /** Names of the faults that need no settings of the cluster. */
  private static final String MIXED =
      """
      bad-key bad-address reader-error server-error corrupt slow-post \
      register-enomem queue-pair-enomem publish-lost driver-unreachable \
      control-refused control-reset control-garbage killed-in-read \
      stopped-5s file-deleted file-truncated shuffle-removed tasks-killed\
      """;

  /** Names of the faults that are also tried with staging. */
  private static final String STAGED =
      """
      none bad-key reader-error server-error corrupt slow-post control-reset control-trickle \
      control-replayed control-truncated killed-reading killed-in-read stopped-5s stopped-30s \
      file-deleted file-truncated file-flipped cache-dropped disk-slow disk-slow-at-one \
      tasks-killed shuffle-removed killed-on-its-ports\
      """;

  public static final List<Fault> ALL = all();

  private Faults() {}

  private static List<Fault> all() {
    List<Fault> all = new ArrayList<>(SINGLE);
    Stream.concat(singles(STAGED), LEASES.stream()).map(Fault::staged).forEach(all::add);
    all.add(Fault.mixed(singles(MIXED).toList()));
    all.addAll(NodeServer.faults());
    return List.copyOf(all);
  }

  private static Stream<Fault> singles(String names) {
    return Stream.of(names.split(" ")).map(name -> named(name, SINGLE));
  }

  /** Returns a fault that is named after its injection. */
  private static Fault injected(Injection injection, String what, double rate) {
    return injected(name(injection), what, injection, rate);
  }

  private static String name(Injection injection) {
    return injection.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static Fault injected(String name, String what, Injection injection, double rate) {
    return injected(name, what, injection, rate, Map.of());
  }

  /**
   * Returns a fault that executors inject into themselves. Only Sluice can notice it, and no stage
   * may be repeated.
   *
   * @param beside further injections that create opportunities for this fault
   */
  private static Fault injected(
      String name, String what, Injection injection, double rate, Map<Injection, Double> beside) {
    Map<Injection, Double> rates = new HashMap<>(beside);
    rates.put(injection, rate);
    // Connections to a port without a listener fail at the side that connects.
    Evidence evidence =
        injection == Injection.CONTROL_REFUSED
            ? Evidence.of("transfer.connect-failures")
            : Evidence.of(injection);
    return new Fault(name, what, Moment.BEFORE, new InjectedFault(rates, List.of(evidence)));
  }

  private static Fault control(Injection injection, String what, double rate) {
    return injected(
            name(injection),
            "control " + what,
            injection,
            rate,
            // Now and then a queue pair connects again and a location is requested.
            Map.of(Injection.READER_ERROR, 0.03, Injection.PUBLISH_LOST, 0.3))
        .on(
            "control",
            // Most of these faults end by a deadline.
            _ ->
                Map.of(
                    "spark.shuffle.rdma.connect.timeout", "1s",
                    "spark.shuffle.rdma.locate.timeout", "2s",
                    "spark.shuffle.rdma.read.timeout", "5s"));
  }

  /**
   * Returns a fault that lasts from the start of the cluster to its end, by its settings.
   *
   * @param counter counter that grows by it
   */
  private static Fault configured(
      String name, String what, String counter, Map<String, String> settings) {
    return new Fault(
            name, what, Moment.BEFORE, new InjectedFault(Map.of(), List.of(Evidence.of(counter))))
        .alone(_ -> settings);
  }

  /** Returns a fault by the software provider's own fault plan, which verbs ignores. */
  private static Fault soft(String name, String what, String plan) {
    return configured(
            name,
            what,
            "transfer.queue-pairs-failed",
            Map.of("spark.shuffle.rdma.soft.faults", "seed=1;" + plan))
        .onSoft();
  }

  private static Fault killed(String name, String what, Moment moment) {
    return new Fault(name, what, moment, KILL).shared(STAGE_RETRIES, 1);
  }

  private static Fault killedAt(String name, String what, Map<Injection, Double> rates) {
    return reading(name, what, AtEvent.killed(rates)).shared(STAGE_RETRIES, 1);
  }

  /** Also drops publications, so that readers have to send a RESOLVE. */
  private static Fault killedBeforePublishing(String name, String what, Injection event) {
    return killedAt(name, what, Map.of(event, 1.0, Injection.PUBLISH_LOST, 1.0));
  }

  /**
   * @param rate probability with which each occurrence of the event stops the victim
   */
  private static Fault stoppedAt(String name, String what, Injection event, double rate) {
    return reading(name, what, AtEvent.stopped(event, rate)).lasting(AtEvent.STOPPED_MS);
  }

  /** Returns a fault that strikes while reduce tasks read, with any shuffle, and costs no stage. */
  private static Fault reading(String name, String what, FaultAction action) {
    return new Fault(name, what, Moment.REDUCE, action).shared(0, 0);
  }

  private static Fault ownDisk(String name, String what, OwnDisk disk) {
    return new Fault(name, what, Moment.MAP, disk).shared(0, 0).alone(disk);
  }

  /** Allows the loss of the removed executor and of idle executors. */
  private static Fault allocation(String name, String with, Fault.Setup setup) {
    return reading(
            "allocation-" + name,
            "dynamic allocation with " + with + " removes an executor",
            new ExecutorLeaving((cluster, executor) -> cluster.remove(executor)))
        .shared(STAGE_RETRIES, 3)
        .allowing(workload -> !workload.name().equals("barrier")) // SPARK-24942
        .alone(setup);
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
