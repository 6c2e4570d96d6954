package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.AnsweringProcess;
import dev.sluice.benchmarks.ClusterConf;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.DriverProcess;
import dev.sluice.benchmarks.Installation;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.chaos.RunResult.Outcome;
import dev.sluice.benchmarks.chaos.RunResult.Run;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.inject.ChaosShuffleManager;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A driver process with its executors, in which faults strike that can share a cluster. It is
 * started when it is needed, and again after a run that hung. Used by one thread, which closes it.
 */
final class ChaosDriver implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Executors live for a few jobs only, most of whose time would be the second compiler's. */
  private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ";

  private static final int EXECUTORS = 3;
  private static final int CORES = 2;
  private static final long MEMORY_MB = 640;

  private final Shuffle shuffle;
  private final String provider;
  private final Fault fault;
  private final Map<String, String> workloadSettings;
  private final int limitSeconds;
  private final Path parent;
  private Path directory;
  private AnsweringProcess driver;
  private Thread ending;
  private boolean broken;

  /** By the last run; its logs are still there. */
  private boolean spoiled;

  private boolean kept;

  /**
   * @param workloadSettings of the workloads that will run
   * @param parent of the directories of the processes, one each
   */
  ChaosDriver(
      Shuffle shuffle,
      String provider,
      Fault fault,
      Map<String, String> workloadSettings,
      int limitSeconds,
      Path parent) {
    this.shuffle = shuffle;
    this.provider = provider;
    this.fault = fault;
    this.workloadSettings = workloadSettings;
    this.limitSeconds = limitSeconds;
    this.parent = parent;
  }

  /**
   * @throws IOException when the process failed; the next run gets a new one
   */
  RunResult run(Run run) throws Exception {
    if (spoiled) {
      spoiled = false;
      close();
    }
    if (driver == null) {
      start();
    }
    try {
      RunResult result = driver.ask(JSON.writeValueAsString(run), RunResult.class);
      if (result.outcome() == Outcome.HANG
          || result.outcome() == Outcome.HARNESS
          || !result.leaks().isEmpty()) {
        abandon(); // the next run would be blamed for it
      }
      spoiled = fault.spoilsCluster();
      return result;
    } catch (IOException e) {
      abandon();
      throw e;
    }
  }

  /** Where the logs of the present or the last process are. */
  Path directory() {
    return directory;
  }

  /** Its logs are worth a look. */
  void keepLogs() {
    kept = true;
  }

  private void start() throws Exception {
    directory =
        Files.createTempDirectory(parent, "%s-%s-".formatted(fault.cluster(), shuffle.label()));
    Path orders = Files.createDirectories(directory.resolve("orders"));
    Map<String, String> settings = settings(orders);
    ending = new Thread(this::endFault, "fault-ender");
    Runtime.getRuntime().addShutdownHook(ending);
    try {
      driver =
          new DriverProcess(directory)
              .start(
                  ChaosJob.class,
                  shuffle,
                  new ClusterConf(EXECUTORS, CORES, MEMORY_MB, provider, settings),
                  Integer.toString(limitSeconds));
    } finally {
      if (driver == null) {
        ended();
      }
    }
  }

  private Map<String, String> settings(Path orders) throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("spark.executor.memoryOverhead", "1g"); // what is struck is registered
    settings.put(ChaosShuffleManager.DIRECTORY, orders.toString());
    settings.put("spark.local.dir", directory.resolve("local").toString());
    // What fails by a fault is to be tried until the fault is over.
    settings.put("spark.task.maxFailures", "30");
    settings.put("spark.stage.maxConsecutiveAttempts", "30");
    settings.put("spark.deploy.maxExecutorRetries", "-1");
    settings.put("spark.barrier.sync.timeout", Workload.BARRIER_SYNC_SECONDS + "s");
    settings.put("spark.shuffle.io.retryWait", "1s");
    // The next fault is to find peers that are READ from.
    settings.put("spark.shuffle.rdma.circuit.cooldown", "1s");
    settings.put("spark.executor.heartbeatInterval", "1s");
    settings.put(
        "spark.executor.extraJavaOptions",
        "%s-Dsluice.log=%s"
            .formatted(
                fault.isLong() ? "" : SHORT_LIVED,
                directory.resolve("executor-{{EXECUTOR_ID}}.log")));
    if (shuffle == Shuffle.SLUICE) {
      Installation installation = Installation.fromEnvironment();
      settings.put("spark.shuffle.manager", ChaosShuffleManager.class.getName());
      settings.put(
          "spark.executor.extraClassPath",
          installation.sluiceJar() + File.pathSeparator + installation.benchmarksJar());
    }
    settings.putAll(workloadSettings);
    settings.putAll(fault.setUp(directory));
    if (shuffle != Shuffle.SLUICE) {
      settings.keySet().removeIf(key -> key.startsWith("spark.shuffle.rdma."));
    }
    return settings;
  }

  private void ended() {
    Runtime.getRuntime().removeShutdownHook(ending);
    endFault();
  }

  private void endFault() {
    try {
      fault.end(directory);
    } catch (IOException e) {
      System.err.printf("%s is not taken back: %s%n", fault.name(), e.getMessage());
    }
  }

  /** Ends a process that is of no use any more, and keeps its logs. */
  private void abandon() throws IOException {
    broken = true;
    kept = true;
    close();
  }

  @Override
  public void close() throws IOException {
    if (driver == null) {
      return;
    }
    try (AnsweringProcess running = driver) {
      driver = null;
      if (!broken) {
        running.end();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the driver ended");
    } finally {
      ended();
    }
    if (!kept) {
      Directories.delete(directory);
    }
    broken = false;
    kept = false;
  }
}
