package dev.sluice.benchmarks.chaos.fault;

import static dev.sluice.benchmarks.chaos.inject.Injection.BAD_ADDRESS;
import static dev.sluice.benchmarks.chaos.inject.Injection.BAD_KEY;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_GARBAGE;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_HALF_OPEN;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_OVERSIZED;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_REFUSED;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_REPLAYED;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_RESET;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_TRICKLE;
import static dev.sluice.benchmarks.chaos.inject.Injection.CONTROL_TRUNCATED;
import static dev.sluice.benchmarks.chaos.inject.Injection.CORRUPT;
import static dev.sluice.benchmarks.chaos.inject.Injection.DONE_LATE;
import static dev.sluice.benchmarks.chaos.inject.Injection.DONE_LOST;
import static dev.sluice.benchmarks.chaos.inject.Injection.DONE_TWICE;
import static dev.sluice.benchmarks.chaos.inject.Injection.DRIVER_SLOW;
import static dev.sluice.benchmarks.chaos.inject.Injection.DRIVER_UNREACHABLE;
import static dev.sluice.benchmarks.chaos.inject.Injection.HALT_AFTER_RESOLVE;
import static dev.sluice.benchmarks.chaos.inject.Injection.HALT_BEFORE_RESOLVE;
import static dev.sluice.benchmarks.chaos.inject.Injection.HALT_IN_RESOLVE;
import static dev.sluice.benchmarks.chaos.inject.Injection.KILL_VICTIM;
import static dev.sluice.benchmarks.chaos.inject.Injection.PUBLISH_LATE;
import static dev.sluice.benchmarks.chaos.inject.Injection.PUBLISH_LOST;
import static dev.sluice.benchmarks.chaos.inject.Injection.PUBLISH_TWICE;
import static dev.sluice.benchmarks.chaos.inject.Injection.QUEUE_PAIR_ENOMEM;
import static dev.sluice.benchmarks.chaos.inject.Injection.READER_ERROR;
import static dev.sluice.benchmarks.chaos.inject.Injection.REGISTER_ENOMEM;
import static dev.sluice.benchmarks.chaos.inject.Injection.SERVER_ERROR;
import static dev.sluice.benchmarks.chaos.inject.Injection.SLOW_POST;
import static dev.sluice.benchmarks.chaos.inject.Injection.STAGED_LATE;
import static dev.sluice.benchmarks.chaos.inject.Injection.STAGE_LATE;
import static dev.sluice.benchmarks.chaos.inject.Injection.STOP_AFTER_READING;
import static dev.sluice.benchmarks.chaos.inject.Injection.STOP_AFTER_STAGE;
import static dev.sluice.benchmarks.chaos.inject.Injection.STOP_BEFORE_ASKING;
import static dev.sluice.benchmarks.chaos.inject.Injection.STOP_BEFORE_DONE;
import static dev.sluice.benchmarks.chaos.inject.Injection.STOP_BEFORE_STAGE;
import static dev.sluice.benchmarks.chaos.inject.Injection.STOP_READING;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.chaos.fault.Fault.Moment;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The faults that there are. */
public final class Faults {
  private static final List<Fault> SINGLE =
      List.of(
          new NoFault(),
          new InjectedFault("bad-key", "READs with a wrong key", BAD_KEY, 0.1),
          new InjectedFault("bad-address", "READs outside their region", BAD_ADDRESS, 0.1),
          new InjectedFault("reader-error", "queue pairs that READ go to ERROR", READER_ERROR, 0.2),
          new InjectedFault(
              "server-error", "queue pairs that serve go to ERROR", SERVER_ERROR, 0.05),
          new InjectedFault("corrupt", "bytes are falsified on their way", CORRUPT, 0.1),
          new InjectedFault("slow-post", "READs are slow", SLOW_POST, 0.2),
          new InjectedFault(
              "register-enomem", "registering fails with ENOMEM", REGISTER_ENOMEM, 0.4),
          new InjectedFault(
              "queue-pair-enomem",
              "queue pairs cannot be created",
              QUEUE_PAIR_ENOMEM,
              0.5,
              Map.of(READER_ERROR, 0.2),
              Map.of()),
          new MappingsExhausted(),
          new InjectedFault("publish-lost", "publications are lost", PUBLISH_LOST, 0.5),
          new InjectedFault("publish-late", "publications are late", PUBLISH_LATE, 0.5),
          new InjectedFault("publish-twice", "publications come twice", PUBLISH_TWICE, 0.5),
          new InjectedFault("driver-slow", "the driver is slow", DRIVER_SLOW, 0.5),
          new InjectedFault("driver-unreachable", "the directory fails", DRIVER_UNREACHABLE, 0.5),
          control("control-refused", "control connections are refused", CONTROL_REFUSED, 0.7),
          control("control-reset", "control connections are reset", CONTROL_RESET, 0.3),
          control("control-half-open", "control connections are dead", CONTROL_HALF_OPEN, 0.7),
          control("control-trickle", "control connections pass 1 byte/s", CONTROL_TRICKLE, 0.7),
          control("control-truncated", "control messages are cut off", CONTROL_TRUNCATED, 0.3),
          control("control-oversized", "control messages are too long", CONTROL_OVERSIZED, 0.3),
          control("control-garbage", "garbage among control messages", CONTROL_GARBAGE, 0.3),
          control("control-replayed", "control messages come twice", CONTROL_REPLAYED, 0.5),
          new ExecutorKilled(
              "killed-writing", "kill -9 while map tasks write", Moment.MAP, Map.of()),
          new ExecutorKilled(
              "killed-reading", "kill -9 while reduce tasks read", Moment.REDUCE, Map.of()),
          new ExecutorKilled(
              "killed-on-its-ports",
              "kill -9 while reduce tasks read, and another executor gets its ports",
              Moment.REDUCE,
              Map.of("spark.shuffle.rdma.port", "17000", "spark.shuffle.rdma.dataPort", "19000")),
          killed("killed-before-resolve", "kill -9 when a RESOLVE arrives", HALT_BEFORE_RESOLVE),
          killed("killed-in-resolve", "kill -9 in the answer to a RESOLVE", HALT_IN_RESOLVE),
          killed("killed-after-resolve", "kill -9 after the answer", HALT_AFTER_RESOLVE),
          new KilledAtEvent(
              "killed-in-read", "kill -9 by a peer that READs", Map.of(KILL_VICTIM, 0.2)),
          new ExecutorStopped(5),
          new ExecutorStopped(30),
          new ExecutorStopped(120),
          new FilesDamaged(
              "file-deleted", "map output files are deleted", ".data", false, Damages::delete),
          new FilesDamaged(
              "file-truncated", "map output files are cut off", ".data", false, Damages::truncate),
          new FilesDamaged(
              "file-flipped",
              "a byte of map output files changes",
              ".data",
              false,
              Damages::flipByte),
          new FilesDamaged(
              "index-wrong",
              "an offset in index files is wrong",
              ".index",
              false,
              Damages::falsifyOffset),
          new FilesDamaged(
              "cache-dropped",
              "files leave the page cache",
              ".data",
              true,
              (file, _) -> Commands.dropFromCache(file)),
          new ShuffleRemoved(),
          new TasksKilled(),
          new InjectedFault(
              "speculation",
              "slow READs, speculative tasks and the end of the losers",
              SLOW_POST,
              0.3,
              Map.of(),
              Map.of(
                  "spark.speculation", "true",
                  "spark.speculation.interval", "50ms",
                  "spark.speculation.multiplier", "1.01",
                  "spark.speculation.quantile", "0.1",
                  "spark.speculation.minTaskRuntime", "50ms")),
          new ConfiguredFault(
              "smallest-pool",
              "64 tasks with 1 MB of buffers an executor",
              List.of("cogroup", "sort-by-key", "skewed-join"),
              Map.of(
                  "spark.master", "local-cluster[2,32,1536]",
                  "spark.executor.cores", "32",
                  "spark.shuffle.rdma.buffers.maxBytes", "1m"),
              Evidence.of("transfer.buffer-waits")),
          soft("data-cut", "data connections are cut", "kill=0.02"),
          soft("data-refused", "peers fail READs", "status=0.05:REM_OP_ERR"),
          new DescriptorsExhausted(),
          new Decommission(false),
          new Decommission(true),
          new DynamicAllocation(false),
          new DynamicAllocation(true),
          new DiskFull(),
          new DiskSlow(),
          new DiskSlowAtOne(),
          new CableFault(
              "packets-lost-1", "1 % of the packets is lost for 5 s", 5_000, "lose", "1"),
          new CableFault(
              "packets-lost-5", "5 % of the packets is lost for 5 s", 5_000, "lose", "5"),
          new CableFault("packets-lost-all", "no packet arrives for 5 s", 5_000, "lose", "100"),
          new CableFault("packets-late", "packets take 50 ms longer for 5 s", 5_000, "delay", "50"),
          new CableFault("port-down", "both ports are down for 3 s", 3_000, "cut"),
          new CableFault(
              "address-removed", "a device has no IP address for 3 s", 3_000, "unaddress"));

  /** Those of leases. */
  private static final List<Fault> LEASES =
      List.of(
          new InjectedFault("late", "requests take longer than a lease", STAGE_LATE, 0.05),
          new InjectedFault("answer-late", "answers come after their leases", STAGED_LATE, 0.05),
          new InjectedFault("done-lost", "leases are not given back", DONE_LOST, 0.7),
          new InjectedFault("done-late", "leases are given back late", DONE_LATE, 0.7),
          new InjectedFault("done-twice", "leases are given back twice", DONE_TWICE, 0.7),
          new StoppedAtEvent(
              "stopped-asking", "SIGSTOP of a reader before it asks", STOP_BEFORE_ASKING, 1),
          new StoppedAtEvent(
              "stopped-before", "SIGSTOP when a request arrives", STOP_BEFORE_STAGE, 0.3),
          StruckCopying.stopped(),
          StruckCopying.killed(),
          new StoppedAtEvent("stopped-after", "SIGSTOP after the answer", STOP_AFTER_STAGE, 0.3),
          new StoppedAtEvent("stopped-reading", "SIGSTOP with READs under way", STOP_READING, 0.3),
          new StoppedAtEvent(
              "stopped-read",
              "SIGSTOP of a reader before it gives a lease back",
              STOP_AFTER_READING,
              0.3),
          new StoppedAtEvent(
              "stopped-done", "SIGSTOP when a lease is given back", STOP_BEFORE_DONE, 0.3));

  /** Those that need no settings of the cluster. */
  private static final String MIXED =
      """
      bad-key bad-address reader-error server-error corrupt slow-post \
      register-enomem queue-pair-enomem publish-lost driver-unreachable \
      control-refused control-reset control-garbage killed-in-read \
      stopped-5s file-deleted file-truncated shuffle-removed tasks-killed""";

  /** Those that staging has to stand as well. */
  private static final String STAGED =
      """
      none bad-key reader-error server-error corrupt slow-post control-reset control-trickle \
      control-replayed control-truncated killed-reading killed-in-read stopped-5s stopped-30s \
      file-deleted file-truncated file-flipped cache-dropped disk-slow disk-slow-at-one \
      tasks-killed shuffle-removed killed-on-its-ports""";

  public static final List<Fault> ALL = all();

  private Faults() {}

  private static List<Fault> all() {
    List<Fault> all = new ArrayList<>(SINGLE);
    Stream.concat(singles(STAGED), LEASES.stream()).map(StagedFault::new).forEach(all::add);
    all.add(new MixedFaults(singles(MIXED).toList()));
    return List.copyOf(all);
  }

  private static Stream<Fault> singles(String names) {
    return Stream.of(names.split(" ")).map(name -> named(name, SINGLE));
  }

  private static Fault control(String name, String what, Injection injection, double rate) {
    return new InjectedFault(
        name,
        what,
        injection,
        rate,
        // A queue pair is connected anew, and a location asked for, now and then.
        Map.of(READER_ERROR, 0.03, PUBLISH_LOST, 0.3),
        // It is deadlines that end most of these.
        Map.of(
            "spark.shuffle.rdma.connect.timeout", "1s",
            "spark.shuffle.rdma.locate.timeout", "2s",
            "spark.shuffle.rdma.read.timeout", "5s"));
  }

  /** By the plan of the software provider's own, which verbs ignore. */
  private static Fault soft(String name, String what, String plan) {
    return new ConfiguredFault(
        name,
        what,
        List.of(),
        Map.of("spark.shuffle.rdma.soft.faults", "seed=1;" + plan),
        Evidence.of("transfer.queue-pairs-failed"));
  }

  /** What is not published has to be asked for, by a RESOLVE. */
  private static Fault killed(String name, String what, Injection event) {
    return new KilledAtEvent(name, what, Map.of(event, 1.0, PUBLISH_LOST, 1.0));
  }

  /**
   * @throws IllegalArgumentException for one that there is not
   */
  public static Fault named(String name) {
    return named(name, ALL);
  }

  private static Fault named(String name, List<Fault> among) {
    return among.stream()
        .filter(fault -> fault.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no fault '" + name + "'"));
  }
}
