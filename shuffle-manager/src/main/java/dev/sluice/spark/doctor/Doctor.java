package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Looks at every executor that the application is given, and prints one table. The exit status is 0
 * where all is ok, 1 with a warning, 2 with a failure.
 */
public final class Doctor {
  private static final String HELP =
      "spark-submit --class dev.sluice.spark.doctor.Doctor <this jar> [--mesh] [--json]\n"
          + "  --mesh   READ from every host to every other, by one executor of each\n"
          + "  --json   print an array of objects\n";

  private static final Set<String> OPTIONS = Set.of("--mesh", "--json");
  private static final long NODE_LIMIT_SECONDS = 300;

  /** Of all that {@link MeshTask} bounds, with room for Spark's scheduler. */
  private static final long MESH_LIMIT_SECONDS = 1800;

  private static final String BARRIER = "spark.scheduler.barrier.maxConcurrentTasksCheck.";

  private Doctor() {}

  public static void main(String[] args) throws Exception {
    List<String> options = List.of(args);
    if (!OPTIONS.containsAll(options)) {
      System.err.print(HELP);
      System.exit(Finding.Level.FAIL.ordinal());
    }
    Table table = new Table();
    try (JavaSparkContext context = new JavaSparkContext(conf())) {
      examine(context, options.contains("--mesh"), table);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) { // what Scala's methods throw, they do not declare
      table.add(
          Finding.fail(
              "application",
              Finding.reason(e),
              "what it says; --master, --conf and the driver's log"));
    }
    System.out.print(options.contains("--json") ? table.json() : table.text());
    System.exit(table.exitStatus());
  }

  /**
   * Each task at once and on the executor that it is for, and what it finds by Java's serializer.
   */
  private static SparkConf conf() {
    return new SparkConf()
        .setIfMissing("spark.app.name", "Sluice doctor")
        .setIfMissing("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .setIfMissing("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s")
        .set("spark.locality.wait", "0")
        .set("spark.speculation", "false")
        .set("spark.barrier.sync.timeout", Long.toString(MESH_LIMIT_SECONDS))
        .set(BARRIER + "maxFailures", "4") // in a minute: nobody else ends tasks here
        .set("spark.stage.maxConsecutiveAttempts", "1")
        .set("spark.serializer", "org.apache.spark.serializer.JavaSerializer");
  }

  private static void examine(JavaSparkContext context, boolean mesh, Table table)
      throws InterruptedException {
    Executors executors = new Executors(context);
    table.add(
        executors.ids().isEmpty()
            ? Finding.fail("executors", "there is none", "the cluster manager has the reason")
            : Finding.ok("executors", executors.spread()));
    List<JavaFutureAction<List<ExecutorReport>>> jobs = new ArrayList<>();
    for (String id : executors.ids()) {
      jobs.add(executors.on(id).mapPartitions(new ExecutorTask()).collectAsync());
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(NODE_LIMIT_SECONDS);
    for (int i = 0; i < jobs.size(); i++) {
      add(jobs.get(i), deadline, executors.ids().get(i), executors, table);
    }
    if (mesh) {
      meshed(executors).forEach(table::add);
    }
  }

  private static void add(
      JavaFutureAction<List<ExecutorReport>> job,
      long deadline,
      String id,
      Executors executors,
      Table table)
      throws InterruptedException {
    String where = executors.words(id);
    try {
      long left = Math.max(0, deadline - System.nanoTime());
      ExecutorReport report = job.get(left, TimeUnit.NANOSECONDS).get(0);
      String finder = executors.words(report.id());
      report.findings().forEach(found -> table.add(found, finder));
      if (!report.id().equals(id)) {
        table.add(
            Finding.warn(
                "executors", "not looked at, as it was busy", "run the doctor on idle executors"),
            where);
      }
    } catch (ExecutionException e) {
      table.add(Finding.fail("executors", Finding.reason(e), "the executor's log"), where);
    } catch (TimeoutException e) {
      job.cancel(true);
      table.add(
          Finding.fail(
              "executors",
              "no answer within " + NODE_LIMIT_SECONDS + " s",
              "the executor's log and its threads"),
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
              "not done within " + MESH_LIMIT_SECONDS + " s",
              "the executors' logs and their threads"));
    } catch (Exception e) {
      return List.of(
          Finding.fail(
              Mesh.NAME,
              Finding.reason(e),
              "spark.dynamicAllocation.enabled=false, and a free core on each executor"));
    }
  }
}
