package dev.sluice.benchmarks.jmh;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Methods that are called for every READ, block or message, by JMH. Each benchmark method has a
 * partner in its class, {@code xBaseline} for {@code x}, that does the same with plain means of the
 * JDK; in every round both run once, in a JVM each.
 */
@Command(
    name = "jmh",
    description = "Methods called for each READ, block or message, beside plain Java")
public final class JmhCommand implements Callable<Integer> {
  private static final String PARTNER_SUFFIX = "Baseline";
  private static final String PARTNER = "plain-java";
  private static final String PACKAGE = "dev.sluice.benchmarks.jmh.";
  private static final int WARM_UP_ITERATIONS = 2;
  private static final TimeValue ITERATION = TimeValue.seconds(1);

  @Parameters(
      arity = "0..1",
      paramLabel = "REGEX",
      defaultValue = ".*",
      description = "Which of them, by a part of class and method (default: all)")
  private String regex;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description =
          "Rounds of one JVM a method, with 2 s to warm up and 1 s that counts: short, so as to"
              + " notice changes, not for publication (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private ComparisonOutput output;

  private final PrintStream out;

  public JmhCommand(PrintStream out) {
    this.out = out;
  }

  @Override
  public Integer call() throws Exception {
    Map<String, double[]> nanos = new TreeMap<>();
    for (int round = 0; round < rounds; round++) {
      for (RunResult result : run()) {
        nanos.computeIfAbsent(result.getParams().getBenchmark(), _ -> new double[rounds])[round] =
            result.getPrimaryResult().getScore();
      }
    }
    output.write(out, comparisons(nanos));
    return 0;
  }

  private Iterable<RunResult> run() throws RunnerException {
    Options options =
        new OptionsBuilder()
            .include(PACKAGE.replace(".", "\\.") + ".*" + regex)
            .mode(Mode.AverageTime)
            .timeUnit(TimeUnit.NANOSECONDS)
            .forks(1)
            .warmupIterations(WARM_UP_ITERATIONS)
            .warmupTime(ITERATION)
            .measurementIterations(1)
            .measurementTime(ITERATION)
            .shouldFailOnError(true)
            .build();
    // Standard output is for the result alone.
    return new Runner(
            options, OutputFormatFactory.createFormatInstance(System.err, VerboseMode.NORMAL))
        .run();
  }

  /** Of the methods that ran with their partners. */
  private static List<Comparison> comparisons(Map<String, double[]> nanos) {
    List<Comparison> comparisons = new ArrayList<>();
    nanos.forEach(
        (method, values) -> {
          double[] partnerValues = nanos.get(method + PARTNER_SUFFIX);
          if (partnerValues != null) {
            comparisons.add(
                new Comparison(
                    name(method),
                    "ns",
                    Comparison.Better.LESS,
                    values,
                    PARTNER,
                    partnerValues,
                    null));
          }
        });
    return comparisons;
  }

  /** {@code jmh-buffer-pool-acquire} for {@code ...BufferPoolBenchmark.acquire}. */
  static String name(String method) {
    String words =
        method
            .substring(PACKAGE.length())
            .replace("Benchmark.", "-")
            .replaceAll("(?<=[a-z])(?=[A-Z])", "-");
    return "jmh-" + words.toLowerCase(Locale.ROOT);
  }
}
