// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.chaos.ChaosRun.RunResult;
import dev.sluice.chaos.ChaosRun.RunResult.Outcome;
import dev.sluice.chaos.ChaosRun.RunResult.Run;
import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.cluster.LeakCheck;
import dev.sluice.chaos.fault.Fault;
import dev.sluice.chaos.inject.ChaosShuffleManager;
import dev.sluice.chaos.workload.Workload;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Installation;
import dev.sluice.testkit.Shuffle;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;

/**
 * A driver process with its executors, shared by faults that can strike the same cluster. It starts
 * on demand, and again after a run that may have left it damaged. {@link ChaosRuns} uses and closes
 * it on the command's thread. The fault's setup is taken back whenever the process has ended, or by
 * a shutdown hook.
 */
final class ChaosDriver implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** JVM options of executors that run only a few jobs: C2 would take most of that time. */
  private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ";

  // The default cluster; RddJobs.BARRIER_TASKS and clusters.txt depend on it.
  private static final int EXECUTORS = 3;
  private static final int CORES = 2;
  private static final long MEMORY_MB = 640;

  private final Shuffle shuffle;
  private final String provider;
  private final Fault fault;
  private final Map<String, String> workloadSettings;
  private final int limitSeconds;
  private final Path parent;

  @SuppressWarnings("NullAway.Init") // set by start()
  private Path directory;

  private @Nullable AnsweringProcess driver;

  @SuppressWarnings("NullAway.Init") // set by start()
  private Thread ending;

  /** True if the last run's fault has spoiled the cluster. The logs are kept until the next run. */
  private boolean spoiled;

  /** True if {@link #close} keeps the logs. */
  private boolean kept;

  /**
   * @param workloadSettings settings that the workloads need
   * @param parent parent of the directories of the processes, one each
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
   * @throws IOException if the process failed; the next run gets a new process
   */
  RunResult run(Run run) throws Exception {
    if (spoiled) {
      spoiled = false;
      close();
    }
    AnsweringProcess running = driver == null ? start() : driver;
    boolean isWhole = false;
    try {
      RunResult result = running.ask(JSON.writeValueAsString(run), RunResult.class);
      isWhole =
          result.outcome() != Outcome.HANG
              && result.outcome() != Outcome.HARNESS
              && result.leaks().isEmpty();
      spoiled = fault.spoilsCluster();
      return result;
    } finally {
      if (!isWhole) { // The next run on it would be blamed.
        kept = true;
        end(false);
      }
    }
  }

  /** Returns the directory of the logs of the present or the last process. */
  Path directory() {
    return directory;
  }

  /** Keeps the logs of this process after it ends. */
  void keepLogs() {
    kept = true;
  }

  private AnsweringProcess start() throws Exception {
    directory =
        Files.createTempDirectory(parent, "%s-%s-".formatted(fault.cluster(), shuffle.label()));
    Path orders = Files.createDirectories(directory.resolve("orders"));
    Map<String, String> settings = settings(orders);
    ending = new Thread(this::endFault, "fault-ender");
    Runtime.getRuntime().addShutdownHook(ending);
    try {
      AnsweringProcess started =
          new DriverProcess(directory)
              .start(
                  ChaosJob.class,
                  shuffle,
                  new ClusterConf(EXECUTORS, CORES, MEMORY_MB, provider, settings),
                  Integer.toString(limitSeconds));
      driver = started;
      return started;
    } finally {
      if (driver == null) {
        ended();
      }
    }
  }

  private Map<String, String> settings(Path orders) throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put(ChaosShuffleManager.DIRECTORY, orders.toString());
    settings.put("spark.local.dir", directory.resolve("local").toString());
    settings.put("spark.barrier.sync.timeout", Workload.BARRIER_SYNC_SECONDS + "s");
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
          installation.sluiceJar() + File.pathSeparator + installation.programJar());
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
      fault.setup().end(directory);
    } catch (IOException e) {
      System.err.printf(
          "the setup of fault %s could not be undone: %s%n", fault.name(), e.getMessage());
    }
  }

  @Override
  public void close() throws IOException {
    end(true);
  }

  /**
   * @param inOrder false to kill the process
   */
  private void end(boolean inOrder) throws IOException {
    if (driver == null) {
      return;
    }
    try (AnsweringProcess running = driver) {
      driver = null;
      if (inOrder) {
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
    kept = false;
  }

  /**
   * Main class of the driver process. Its main thread reads a {@link Run} from each line, runs the
   * workload under the fault, and answers with a {@link RunResult}. {@link ChaosDriver} starts and
   * ends it. Between two runs it waits until all executors are there again.
   */
  static final class ChaosJob {
    private final Cluster cluster;
    private final LeakCheck leaks;
    private final long limitMs;

    private ChaosJob(SparkSession session, long limitMs) {
      this.cluster = new Cluster(session);
      this.leaks = new LeakCheck(cluster);
      this.limitMs = limitMs;
    }

    /**
     * @param arguments seconds after which a job counts as hanging
     */
    public static void main(String[] arguments) throws Exception {
      PrintStream out = AnsweringProcess.claimOutput();
      ObjectMapper json = new ObjectMapper();
      long limitMs = TimeUnit.SECONDS.toMillis(Integer.parseInt(arguments[0]));
      try (SparkSession session = SparkSession.builder().getOrCreate()) {
        ChaosJob job = new ChaosJob(session, limitMs);
        job.cluster.awaitWhole();
        AnsweringProcess.answer(out, line -> job.run(json.readValue(line, Run.class)));
      }
    }

    private RunResult run(Run run) throws Exception {
      cluster.awaitWhole();
      cluster.watch();
      return new FaultedJob(run, cluster, limitMs).run(leaks);
    }
  }
}
