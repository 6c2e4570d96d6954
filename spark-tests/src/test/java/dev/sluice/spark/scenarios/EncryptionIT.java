package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** READs carry the files' bytes: where Spark encrypts its network, they must not be plain ones. */
final class EncryptionIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;
  private static final Path CAPTURE = Path.of(System.getProperty("sluice.target"), "loopback.pcap");
  private static final String[] AUTHENTICATED = {
    "spark.authenticate", "true",
    "spark.authenticate.secret", "only for this test",
    // What is captured must be searchable.
    "spark.shuffle.compress", "false"
  };
  private static final String[] CRYPTO = {"spark.network.crypto.enabled", "true"};
  private static final String[] ENCRYPTED_FILES = {"spark.io.encryption.enabled", "true"};
  private static final String[] ALLOW_PLAINTEXT = {"spark.shuffle.rdma.allowPlaintext", "true"};

  @Test
  void authenticatedPeersReadFromEachOther() throws Exception {
    try (LocalCluster cluster = start();
        PacketCapture capture = PacketCapture.start(CAPTURE)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      assertThat(recordsInTheClear(capture)).as("the capture sees what goes by").isPositive();
    }
  }

  @Test
  void plainFilesAreNotReadWhereTheNetworkIsEncrypted() throws Exception {
    try (LocalCluster cluster = start(CRYPTO);
        PacketCapture capture = PacketCapture.start(CAPTURE)) {
      shuffle(cluster);
      PathAssert.allFellBack(cluster, "WIRE_ENCRYPTION");
      assertThat(recordsInTheClear(capture)).isZero();
    }
  }

  @Test
  void encryptedFilesAreReadWhereTheNetworkIsEncrypted() throws Exception {
    try (LocalCluster cluster = start(CRYPTO, ENCRYPTED_FILES);
        PacketCapture capture = PacketCapture.start(CAPTURE)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      assertThat(recordsInTheClear(capture)).isZero();
    }
  }

  @Test
  void plainFilesAreReadWhereThatIsAllowed() {
    try (LocalCluster cluster = start(CRYPTO, ALLOW_PLAINTEXT)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
    }
  }

  private static LocalCluster start(String[]... settings) {
    return LocalCluster.start(
        Stream.concat(Stream.of(AUTHENTICATED), Stream.of(settings).flatMap(Stream::of))
            .toArray(String[]::new));
  }

  private static void shuffle(LocalCluster cluster) {
    assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
        .isEqualTo(DATA.answer());
  }

  /** Skips the rest of the test where nothing can be captured. */
  private static long recordsInTheClear(PacketCapture capture)
      throws IOException, InterruptedException {
    assumeTrue(capture.isRunning(), capture::whyNot);
    return capture.stopAndCount(KnownShuffle.MARKER.getBytes(StandardCharsets.US_ASCII));
  }
}
