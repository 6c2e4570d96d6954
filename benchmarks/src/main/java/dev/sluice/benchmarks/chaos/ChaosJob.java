package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.AnsweringProcess;
import dev.sluice.benchmarks.StandardOutput;
import dev.sluice.benchmarks.chaos.RunResult.Run;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.Remains;
import dev.sluice.benchmarks.chaos.fault.Faults;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.SparkSession;

/**
 * The driver process in which faults strike one workload after another: one for each line, a {@link
 * Run}, answered with a {@link RunResult}. Started and ended by {@link ChaosRuns}.
 */
final class ChaosJob {
  private final Assignment assignment;
  private final Cluster cluster;
  private final Remains remains;
  private final ExecutorService jobs =
      Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());

  /**
   * What the driver is told, as one JSON object.
   *
   * @param sluice whether it runs on Sluice, else on the stock shuffle
   * @param directory for orders and answers
   * @param limitSeconds after which a job counts as hanging
   */
  record Assignment(boolean sluice, String directory, int limitSeconds) {}

  private ChaosJob(Assignment assignment, SparkSession session) {
    this.assignment = assignment;
    this.cluster = new Cluster(session, assignment.sluice(), Path.of(assignment.directory()));
    this.remains = new Remains(cluster);
  }

  /**
   * @param arguments an {@link Assignment}
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = StandardOutput.claim();
    ObjectMapper json = new ObjectMapper();
    Assignment assignment = json.readValue(arguments[0], Assignment.class);
    try (SparkSession session = SparkSession.builder().getOrCreate()) {
      ChaosJob job = new ChaosJob(assignment, session);
      job.cluster.awaitWhole();
      AnsweringProcess.answer(out, line -> job.run(json.readValue(line, Run.class)));
    }
  }

  private RunResult run(Run run) throws Exception {
    Workload workload = Workload.named(run.workload());
    // Neighbouring seeds of a Random begin alike.
    long mixed = new SplittableRandom(run.seed() + run.workload().hashCode()).nextLong();
    Random random = new Random(mixed);
    cluster.awaitWhole();
    cluster.watch();
    return new StruckJob(
            run,
            cluster,
            Faults.named(run.fault()).chosen(workload, random),
            workload,
            random,
            TimeUnit.SECONDS.toMillis(assignment.limitSeconds()),
            Path.of(assignment.directory()))
        .run(jobs, remains);
  }
}
