package dev.sluice.benchmarks.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.StandardOutput;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.fault.Fault.Moment;
import dev.sluice.benchmarks.chaos.fault.Faults;
import dev.sluice.benchmarks.chaos.workload.Answer;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.sql.SparkSession;

/**
 * The driver process in which one fault strikes one workload after another: one for each line
 * {@code workload seed}, answered with a {@link RunResult}. Started and ended by {@link ChaosRuns}.
 */
final class ChaosJob {
  private static final long STAGE_MS = 60_000;
  private static final long POLL_MS = 10;

  /**
   * What the driver is told, as one JSON object.
   *
   * @param sluice whether it runs on Sluice, else on the stock shuffle
   * @param directory for orders and answers
   * @param limitSeconds after which a job counts as hanging
   */
  record Order(String fault, boolean sluice, String directory, int limitSeconds) {}

  private final Order order;
  private final Fault fault;
  private final Cluster cluster;
  private final Remains remains;
  private final ExecutorService jobs =
      Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());

  private ChaosJob(Order order, SparkSession session) {
    this.order = order;
    this.fault = Faults.named(order.fault());
    this.cluster = new Cluster(session, order.sluice(), Path.of(order.directory()));
    this.remains = new Remains(cluster);
  }

  /**
   * @param arguments an {@link Order}
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = StandardOutput.claim();
    ObjectMapper json = new ObjectMapper();
    Order order = json.readValue(arguments[0], Order.class);
    try (SparkSession session = SparkSession.builder().getOrCreate();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
      ChaosJob job = new ChaosJob(order, session);
      job.cluster.awaitWhole();
      out.println("ready");
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] run = line.split(" ");
        out.println(
            json.writeValueAsString(job.run(Workload.named(run[0]), Long.parseLong(run[1]))));
      }
      out.println("done");
    }
  }

  private RunResult run(Workload workload, long seed) throws Exception {
    cluster.awaitWhole();
    workload
        .settings()
        .forEach(
            (key, value) -> {
              if (key.startsWith("spark.sql.")) {
                cluster.session().conf().set(key, value);
              }
            });
    cluster.watch();
    Random random = new Random(seed);
    long hits = fault.isInjected() ? cluster.hits() : 0;
    fault.prepare(cluster, random);
    if (fault.moment() == Moment.BEFORE) {
      fault.strike(cluster, random);
    }
    long start = System.nanoTime();
    CompletableFuture<Answer> job = submit(workload, seed);
    long struck = start;
    boolean inTime = true;
    try {
      if (fault.moment() != Moment.BEFORE) {
        awaitStage(job);
        Thread.sleep(fault.delayMs(random));
        struck = System.nanoTime();
        inTime = !job.isDone();
        fault.strike(cluster, random);
      }
      Answer answer = job.get(order.limitSeconds(), TimeUnit.SECONDS);
      return result(workload, seed, answer, null, false, start, struck, struckIn(hits, inTime));
    } catch (ExecutionException e) {
      return result(
          workload,
          seed,
          null,
          e.getCause().toString(),
          false,
          start,
          struck,
          struckIn(hits, inTime));
    } catch (TimeoutException e) {
      new ThreadDumps(Path.of(order.directory())).take(cluster.executors());
      return result(
          workload,
          seed,
          null,
          "did not end in " + order.limitSeconds() + " s",
          true,
          start,
          struck,
          true);
    }
  }

  /** Until the fault's stage begins, or the job is over without. */
  private void awaitStage(CompletableFuture<Answer> job) throws InterruptedException {
    boolean begun = false;
    for (long waited = 0; !begun && !job.isDone() && waited < STAGE_MS; waited += POLL_MS) {
      begun = cluster.stages().await(fault.moment() == Moment.REDUCE, POLL_MS);
    }
  }

  /** Whether what was ordered has gone wrong, where that is counted. */
  private boolean struckIn(long hitsBefore, boolean inTime) throws Exception {
    return fault.isInjected() && order.sluice() ? cluster.hits() > hitsBefore : inTime;
  }

  private CompletableFuture<Answer> submit(Workload workload, long seed) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return workload.run(cluster.session(), seed);
          } catch (RuntimeException e) {
            throw e;
          } catch (Exception e) { // Scala throws checked ones that it does not declare.
            throw new IllegalStateException(e);
          }
        },
        jobs);
  }

  private RunResult result(
      Workload workload,
      long seed,
      Answer answer,
      String problem,
      boolean hang,
      long start,
      long struck,
      boolean inTime)
      throws Exception {
    long end = System.nanoTime();
    fault.heal(cluster);
    return new RunResult(
        fault.name(),
        workload.name(),
        seed,
        answer,
        problem,
        hang,
        cluster.stages().retries(),
        cluster.stages().fetchFailures(),
        cluster.stages().failedTasks(),
        cluster.stages().lostExecutors(),
        inTime,
        (end - start) / 1e9,
        (end - struck) / 1e9,
        hang ? List.of() : leaks(),
        hang ? Map.of() : remains.held(),
        System.currentTimeMillis());
  }

  private List<String> leaks() throws Exception {
    cluster.order(Map.of(), 0, 0);
    // What commits after its shuffle was removed stays, with the stock shuffle as well.
    cluster.stages().awaitIdle(STAGE_MS);
    cluster.forget(cluster.stages().shuffles());
    return remains.await();
  }
}
