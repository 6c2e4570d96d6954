// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.registry.RegistrationForecast.Outputs;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Forecasts next to a registry that registers the same map outputs. */
class RegistrationForecastTest extends RegisteredOutputFixture {
  private static final long MIB = 1 << 20;

  /** Limit of memory regions in the fixture's registry. */
  private static final int MAX_REGIONS = 100;

  private static Outputs mappings(int count, long bytes, int partitions) {
    return new Outputs(count, bytes, partitions, RegistrationMethod.READ_ONLY_MAPPING);
  }

  @ParameterizedTest
  @CsvSource({
    "30, 5000, 4, 1048576, all have room",
    "40, 9000, 300, 204800, bytes are short",
    "25, 3000, 5000, 1048576, tables are larger than data",
    "20, 5000, 1000, 65536, there is no room for all slots of a segment",
    "120, 100, 10, 1048576, regions are short",
    "5, 100, 10, 4096, there is no room for a table"
  })
  void theForecastIsTrueOfARegistry(
      int count, int bytes, int partitions, long maxBytes, String reason) throws Exception {
    registry.close();
    registry = registry(maxBytes, () -> 0);
    int[] lengths = new int[partitions];
    lengths[0] = bytes;
    int registered = 0;
    for (long mapId = 100; mapId < 100 + count; mapId++) {
      outputs.write(SHUFFLE, mapId, lengths);
      boolean isRegistered =
          registry
              .resolve(SHUFFLE, new long[] {mapId})
              .get(10, TimeUnit.SECONDS)
              .getFirst()
              .segment()
              .isRegistered();
      registered += isRegistered ? 1 : 0;
    }
    RegistrationForecast forecast =
        RegistrationForecast.of(
            mappings(count, bytes, partitions), new Cost(maxBytes, MAX_REGIONS));
    assertThat(forecast.outputs()).as(reason).isEqualTo(registered);
    assertThat(forecast.cost().bytes())
        .isEqualTo(registry.counters().get(RegistryCounter.REGISTERED_BYTES));
    assertThat(forecast.cost().regions())
        .isEqualTo((int) registry.counters().get(RegistryCounter.REGISTERED_REGIONS));
  }

  @Test
  void registeringTakesDataAndTables() {
    RegistrationForecast many =
        RegistrationForecast.of(mappings(1000, MIB, 1000), RegistrationForecast.UNLIMITED);
    assertThat(many.outputs()).isEqualTo(1000);
    assertThat(many.cost().bytes()).isBetween(1000 * (MIB + 16_000), 1000 * (MIB + 2 * 16_500));
    Cost enough = many.cost();
    assertThat(RegistrationForecast.of(mappings(1000, MIB, 1000), enough)).isEqualTo(many);
    Cost less = new Cost(enough.bytes() - 1, enough.regions());
    assertThat(RegistrationForecast.of(mappings(1000, MIB, 1000), less).outputs())
        .isBetween(900, 999);
  }

  /** Data that is paged on demand takes no room, and its tables do. */
  @Test
  void pagingOnDemandLeavesTheBudgetToTables() {
    Outputs onDemand = new Outputs(100, MIB, 1000, RegistrationMethod.ON_DEMAND_MAPPING);
    RegistrationForecast forecast =
        RegistrationForecast.of(onDemand, new Cost(4 * MIB, Integer.MAX_VALUE));
    assertThat(forecast.outputs()).isEqualTo(100);
    assertThat(forecast.cost().bytes()).isBetween(100 * 16_000L, 4 * MIB);
  }
}
