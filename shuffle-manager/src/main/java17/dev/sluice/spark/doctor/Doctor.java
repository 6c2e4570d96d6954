// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Table;
import dev.sluice.doctor.Where;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Checks every executor of the application and prints one table. The exit status is 0 if all is ok,
 * 1 with a warning, 2 with a failure. {@code spark-submit} runs it on the driver. All of it runs on
 * the main thread, which also closes the context.
 */
public final class Doctor {

  /** Limit of all checks: an executor's end within four minutes, and Spark has to schedule them. */
  private static final long NODE_LIMIT_SECONDS = 300;

  /** Limit of everything that {@link MeshTask} bounds, with room for Spark's scheduler. */
  private static final long MESH_LIMIT_SECONDS = 1800;

  private static final String BARRIER = "spark.scheduler.barrier.maxConcurrentTasksCheck.";

  private Doctor() {}

  public static void main(String[] args) throws Exception {
    JobOptions options;
    try {
      options = JobOptions.parse(List.of(args));
    } catch (IllegalArgumentException e) {
      System.err.print(e.getMessage() + "\n" + JobOptions.HELP);
      System.exit(Finding.Level.FAIL.ordinal());
      return;
    }
    if (options.help()) {
      System.out.print(JobOptions.HELP);
      return;
    }
    Table table = new Table();
    try (JavaSparkContext context = new JavaSparkContext(conf())) {
      table.put("spark", context.version());
      table.put("application", context.sc().applicationId());
      examine(context, options, table);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) { // Scala's methods declare no exceptions
      table.add(
          Finding.fail(
              "application",
              Finding.reason(e),
              "see the message, --master, --conf and the driver's log"));
    }
    System.out.print(options.json() ? table.json() : options.fix() ? table.fix() : table.text());
    System.exit(table.exitStatus());
  }

  /**
   * Makes Spark run each task at once and on its own executor, and return findings by Java's
   * serializer.
   */
  private static SparkConf conf() {
    return new SparkConf()
        .setIfMissing("spark.app.name", "Sluice doctor")
        .set("spark.scheduler.minRegisteredResourcesRatio", "0") // ExecutorWait waits
        .set("spark.locality.wait", "0")
        .set("spark.speculation", "false")
        .set("spark.barrier.sync.timeout", Long.toString(MESH_LIMIT_SECONDS))
        .set(BARRIER + "maxFailures", "4") // in a minute: no other tasks end here
        .set("spark.stage.maxConsecutiveAttempts", "1")
        .set("spark.serializer", "org.apache.spark.serializer.JavaSerializer");
  }

  private static void examine(JavaSparkContext context, JobOptions options, Table table)
      throws InterruptedException {
    Executors executors = new Executors(context, options.executors(), options.waitLimit());
    table.add(executors.finding());
    List<JavaFutureAction<List<ExecutorReport>>> jobs = new ArrayList<>();
    for (String id : executors.ids()) {
      jobs.add(executors.on(id).mapPartitions(new ExecutorTask()).collectAsync());
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(NODE_LIMIT_SECONDS);
    for (int i = 0; i < jobs.size(); i++) {
      add(jobs.get(i), deadline, executors.ids().get(i), executors, table);
    }
    if (options.mesh()) {
      for (Finding finding : meshed(executors)) {
        table.addAbout(Mesh.hosts(finding), finding);
      }
    }
  }

  private static void add(
      JavaFutureAction<List<ExecutorReport>> job,
      long deadline,
      String id,
      Executors executors,
      Table table)
      throws InterruptedException {
    Where where = executors.where(id);
    try {
      long left = Math.max(0, deadline - System.nanoTime());
      ExecutorReport report = job.get(left, TimeUnit.NANOSECONDS).get(0);
      Where finder = executors.where(report.id());
      report.findings().forEach(found -> table.add(found, finder));
      if (!report.id().equals(id)) {
        table.add(
            Finding.warn(
                Executors.NAME,
                "not checked, because it was busy",
                "run the doctor on idle executors"),
            where);
      }
    } catch (ExecutionException e) {
      table.add(Finding.fail(Executors.NAME, Finding.reason(e), "see the executor's log"), where);
    } catch (TimeoutException e) {
      job.cancel(true);
      table.add(
          Finding.fail(
              Executors.NAME,
              "no answer within " + NODE_LIMIT_SECONDS + " s",
              "see the executor's log and its threads"),
          where);
    }
  }

  private static List<Finding> meshed(Executors executors) throws InterruptedException {
    try {
      return Mesh.findings(executors, MESH_LIMIT_SECONDS);
    } catch (InterruptedException e) {
      throw e;
    } catch (TimeoutException e) {
      return List.of(
          Finding.fail(
              Mesh.NAME,
              "not finished within " + MESH_LIMIT_SECONDS + " s",
              "see the executors' logs and their threads"));
    } catch (Exception e) {
      return List.of(
          Finding.fail(
              Mesh.NAME,
              Finding.reason(e),
              "set spark.dynamicAllocation.enabled=false, and leave a free core on each executor"));
    }
  }
}
