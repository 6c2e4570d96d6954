package dev.sluice.spark.locate;

import static dev.sluice.spark.locate.Samples.location;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LocationLogTest {
  private final LocationLog log = new LocationLog();

  @Test
  void keepsLocationsAsTheyWere() {
    for (int i = 0; i < 1000; i++) {
      log.append(i % 7, location(i));
    }
    LocationLog copy = new LocationLog();
    copy.append(log.records(0));
    assertThat(copy.count()).isEqualTo(1000);
    for (int i = 0; i < 1000; i++) {
      assertThat(copy.location(i)).isEqualTo(location(i));
      assertThat(copy.executor(i)).isEqualTo(i % 7);
    }
  }

  @Test
  void saysWhatAreNoRecords() throws IOException {
    log.append(3, location(5));
    byte[] record = log.records(0);
    LocationLog.check(record);
    LocationLog.check(new byte[0]);
    assertThatThrownBy(() -> LocationLog.check(Arrays.copyOf(record, record.length - 1)))
        .isInstanceOf(IOException.class);
    int[] firstBytes = {8, 20, 40, LocationLog.RECORD_BYTES - 1}; // executor, lengths, algorithm
    for (int at : firstBytes) {
      byte[] wrong = record.clone();
      wrong[at] = -1;
      assertThatThrownBy(() -> LocationLog.check(wrong))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("record 0");
    }
  }

  @Test
  void dropsTheRecordsOfAnExecutorAndKeepsTheOrderOfTheOthers() {
    for (int i = 0; i < 10; i++) {
      log.append(i % 2, location(i));
    }
    assertThat(log.removeIf(executor -> executor == 0)).isTrue();
    assertThat(log.removeIf(executor -> executor == 0)).isFalse();
    assertThat(log.count()).isEqualTo(5);
    assertThat(log.location(4)).isEqualTo(location(9));
  }

  @Test
  void aMapFindsWhatAHashMapFinds() {
    Random random = new Random(42);
    Map<Long, Integer> expected = new HashMap<>();
    LongIntMap map = new LongIntMap();
    for (int i = 0; i < 10_000; i++) {
      long key = random.nextInt(3000) - 1000L;
      int value = random.nextInt(100) == 0 ? LongIntMap.ABSENT : i;
      expected.put(key, value);
      map.put(key, value);
    }
    for (long key = -2000; key < 3000; key++) {
      assertThat(map.get(key)).isEqualTo(expected.getOrDefault(key, LongIntMap.ABSENT));
    }
  }
}
