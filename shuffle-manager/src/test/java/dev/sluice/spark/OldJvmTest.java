package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.version.Platform;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.Test;

/** What the manager is where a JVM is said to be too old for the rest of the jar. */
class OldJvmTest {
  private static final String OLD = Platform.lack(21, "4.2.0");
  private static final String OLDER = Platform.lack(17, "4.2.0");

  @Test
  void autoIsTheStockShuffleOnAnOldJvm() {
    RdmaShuffleManager manager = new RdmaShuffleManager(conf("auto"), true, OLD);
    assertThat(manager.shuffleBlockResolver()).isExactlyInstanceOf(IndexShuffleBlockResolver.class);
    assertThat(manager.totals()).isEmpty();
  }

  @Test
  void whatWasAskedForByNameFailsOnAnOldJvm() {
    for (String provider : List.of("soft", "verbs")) {
      assertThatThrownBy(() -> new RdmaShuffleManager(conf(provider), true, OLD))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("\"" + provider + "\"", "Java 25", "Java 21");
    }
  }

  @Test
  void anExecutorOnAnOldJvmFailsItsTasksAndNotItsStart() {
    RdmaShuffleManager manager = new RdmaShuffleManager(conf("soft"), false, OLDER);
    assertThatThrownBy(() -> manager.getWriter(null, 0, null, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("this JVM is Java 17");
    assertThatThrownBy(() -> manager.getReader(null, 0, 1, 0, 1, null, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("this JVM is Java 17");
  }

  @Test
  void offIsTheStockShuffleOnAnyJvm() {
    RdmaShuffleManager manager = new RdmaShuffleManager(conf("off"), true, OLD);
    assertThat(manager.shuffleBlockResolver()).isExactlyInstanceOf(IndexShuffleBlockResolver.class);
  }

  private static SparkConf conf(String provider) {
    return new SparkConf(false).set("spark.shuffle.rdma.provider", provider);
  }
}
