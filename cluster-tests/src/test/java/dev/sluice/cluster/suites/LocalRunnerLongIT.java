// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.suites;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.mapreduce.RdmaShuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapreduce.TestLocalRunner;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Hadoop's own tests of its local mode, whose reduce tasks have local map files: the plug-in is
 * Hadoop's own shuffle then. One test is overridden only so that another version of Hadoop cannot
 * leave this class without tests unnoticed.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class LocalRunnerLongIT extends TestLocalRunner {
  @TempDir private static Path directory;

  @BeforeAll
  static void takeThePlugin() {
    System.setProperty("test.build.data", directory.toString());
    Configuration.addDefaultResource("local-runner.xml");
  }

  @AfterAll
  static void thePluginRanReduceTasks() {
    assertThat(CountedShuffle.RUNS).hasPositiveValue();
  }

  @Test
  @Override
  public void testMultiMaps() throws Exception {
    super.testMultiMaps();
  }

  /** Sluice's plug-in, with a count of the reduce tasks that it ran in this JVM. */
  public static final class CountedShuffle<K, V> implements ShuffleConsumerPlugin<K, V> {
    private static final AtomicInteger RUNS = new AtomicInteger();

    private final RdmaShuffle<K, V> shuffle = new RdmaShuffle<>();

    @Override
    public void init(Context<K, V> context) {
      shuffle.init(context);
    }

    @Override
    public RawKeyValueIterator run() throws IOException, InterruptedException {
      RawKeyValueIterator merged = shuffle.run();
      RUNS.incrementAndGet();
      return merged;
    }

    @Override
    public void close() {
      shuffle.close();
    }
  }
}
