package dev.sluice.benchmarks.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jmh.annotations.Benchmark;

class JmhCommandTest {
  @ParameterizedTest
  @ValueSource(
      classes = {
        BufferPoolBenchmark.class,
        LocationLookupBenchmark.class,
        MessageCodecBenchmark.class,
        OffsetLookupBenchmark.class,
        QueuePairBenchmark.class
      })
  void everyBenchmarkHasItsBaseline(Class<?> benchmarks) {
    List<String> methods =
        Arrays.stream(benchmarks.getDeclaredMethods())
            .filter(method -> method.isAnnotationPresent(Benchmark.class))
            .map(Method::getName)
            .toList();
    List<String> measured =
        methods.stream().filter(method -> !method.endsWith("Baseline")).toList();

    assertThat(measured).isNotEmpty();
    assertThat(methods)
        .containsAll(measured.stream().map(method -> method + "Baseline").toList())
        .hasSize(2 * measured.size());
  }
}
