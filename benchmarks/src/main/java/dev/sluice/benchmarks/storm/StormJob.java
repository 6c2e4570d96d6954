package dev.sluice.benchmarks.storm;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.CompletedStages;
import dev.sluice.benchmarks.Executors;
import dev.sluice.benchmarks.JsonFile;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.StormResult.Repetition;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The driver process of a storm: writes the map outputs once and reads them again and again. Its
 * configuration comes as system properties, its result goes to a file. Started and ended by {@link
 * StormRunner}.
 */
public final class StormJob {
  private static final double NS_PER_S = 1e9;

  private StormJob() {}

  /**
   * @param arguments the case as JSON, repetitions in all, result file
   */
  public static void main(String[] arguments) throws Exception {
    StormCase storm = new ObjectMapper().readValue(arguments[0], StormCase.class);
    int count = Integer.parseInt(arguments[1]);
    Path result = Path.of(arguments[2]);
    SparkConf conf = new SparkConf();
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      CompletedStages stages = new CompletedStages();
      spark.sc().addSparkListener(stages);
      Executors.await(spark);
      List<Repetition> repetitions = repeat(storm.workload().prepare(spark, storm), count, stages);
      long remoteBytes = stages.remoteBytes();
      SluiceTotals totals = SluiceTotals.await(conf, remoteBytes);
      JsonFile.write(result, new StormResult(repetitions, remoteBytes, totals));
    }
  }

  private static List<Repetition> repeat(Supplier<Sums> job, int count, CompletedStages stages)
      throws Exception {
    List<Repetition> repetitions = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Map<String, Double> before = Executors.cpuSeconds();
      long start = System.nanoTime();
      Sums sums = job.get();
      double seconds = (System.nanoTime() - start) / NS_PER_S;
      Map<String, Double> cpu = Executors.used(before, Executors.cpuSeconds());
      repetitions.add(new Repetition(sums, seconds, ReduceStage.of(stages.await()), cpu));
    }
    return repetitions;
  }
}
