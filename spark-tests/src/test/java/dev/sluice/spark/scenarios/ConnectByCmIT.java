package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Executors whose queue pairs rdma_cm connects, on a device of this machine. */
@Tag("rdma-device")
@EnabledIf(
    value = "hasConnectionManager",
    disabledReason = "there is no /dev/infiniband/rdma_cm: bin/with-verbs runs this test")
final class ConnectByCmIT {
  private static final KnownShuffle DATA = new KnownShuffle(16, 5_000, 400, 100);
  private static final int PARTITIONS = 8;
  private static final long RELEASE_TIMEOUT_SECONDS = 60;

  static boolean hasConnectionManager() {
    return Files.exists(Path.of("/dev/infiniband/rdma_cm"));
  }

  @Test
  void everyRemoteBlockIsReadOverItsConnections() throws Exception {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.shuffle.rdma.provider",
            "verbs",
            "spark.shuffle.rdma.connect",
            "cm",
            "spark.shuffle.rdma.testing.loopback",
            "false")) {
      assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
          .isEqualTo(DATA.answer());
      PathAssert.allRead(cluster);
      // One side may have had nothing to fetch; whoever had shows both ends of its connection.
      assertThat(ids("CONNECT").size()).isIn(2, 4);
      assertThat(ids("LISTEN")).isNotEmpty();
    }
    assertThatNoneIsLeft();
  }

  /** Processes that end take a moment. */
  private static void assertThatNoneIsLeft() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RELEASE_TIMEOUT_SECONDS);
    while (!ids("").isEmpty()) {
      assertThat(System.nanoTime() - deadline).as("%s", ids("")).isNegative();
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /** The ids of rdma_cm that the kernel knows, of those in a state. */
  private static List<String> ids(String state) throws IOException {
    Process process = new ProcessBuilder("rdma", "resource", "show", "cm_id").start();
    String ids = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return ids.lines().filter(id -> id.contains("state " + state)).toList();
  }
}
