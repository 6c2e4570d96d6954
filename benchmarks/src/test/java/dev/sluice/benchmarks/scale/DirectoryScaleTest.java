package dev.sluice.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Pairs;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DirectoryScaleTest {
  private static final int MAPS = 200;
  private static final int EXECUTORS = 4;

  @Test
  void comparesTheTableWithSparks() throws Exception {
    Pairs pairs = new Pairs();

    new DirectoryScale(EXECUTORS, MAPS, 10, 1).measure(2, pairs);

    Map<String, Comparison> byName =
        pairs.comparisons().stream()
            .collect(Collectors.toMap(Comparison::name, Function.identity()));
    Comparison bytes = byName.get("scale-maps-200-table-bytes");
    assertThat(bytes.sluice()[0]).as("a record, and a share of executors").isBetween(5.0, 20.0);
    assertThat(bytes.partnerValues()[0]).isPositive();
    assertThat(byName.get("scale-maps-200-driver-4-executors-bytes").sluice()[0] * 1e6)
        .isEqualTo(bytes.sluice()[0] * MAPS * EXECUTORS, within(0.5));
  }
}
