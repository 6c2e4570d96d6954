// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/**
 * Pages of files in the executors' resident memory, which YARN's monitor counts as theirs. Each
 * reduce task looks after it has read its blocks, while its executor goes on serving the other.
 */
final class ResidentMemoryIT {
  private static final KnownShuffle DATA = new KnownShuffle(16, 2_400, 400, 8 << 10);
  private static final int PARTITIONS = 64;
  private static final long ALLOWED_KB = 64 << 10;
  private static final Pattern RSS_FILE = Pattern.compile("(?m)^RssFile:\\s*(\\d+) kB$");

  @Test
  void servingOnTheSoftwareProviderTakesNoMoreFilePagesThanStockSpark() {
    long stock = mostKb(_ -> {}, "spark.shuffle.rdma.provider", "off");
    long open = mostKb(PathAssert::noneStaged);
    long staged = mostKb(PathAssert::allStaged, "spark.shuffle.rdma.registration.maxBytes", "0");
    System.out.printf(
        "RssFile of an executor at most: stock %d kB, open files %d kB, staged %d kB%n",
        stock, open, staged);
    assertThat(open).isLessThan(stock + ALLOWED_KB);
    assertThat(staged).isLessThan(stock + ALLOWED_KB);
  }

  private static long mostKb(Consumer<LocalCluster> way, String... settings) {
    List<String> all = new ArrayList<>(List.of(settings));
    all.addAll(List.of("spark.shuffle.compress", "false"));
    try (LocalCluster cluster = LocalCluster.start(all.toArray(String[]::new))) {
      List<Long> residentKb =
          DATA.repartitioned(cluster.context(), PARTITIONS)
              .mapPartitions(ResidentMemoryIT::residentKbAfterReading)
              .collect();
      assertThat(cluster.metrics().remoteBytes()).isGreaterThan(100L << 20);
      way.accept(cluster);
      return Collections.max(residentKb);
    }
  }

  private static Iterator<Long> residentKbAfterReading(Iterator<Tuple2<Integer, byte[]>> records)
      throws IOException {
    records.forEachRemaining(record -> {});
    Matcher found = RSS_FILE.matcher(Files.readString(Path.of("/proc/self/status")));
    if (!found.find()) {
      throw new IllegalStateException("/proc/self/status has no RssFile");
    }
    return List.of(Long.parseLong(found.group(1))).iterator();
  }
}
