// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.spark.cluster.UnusedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * READs are neither encrypted nor authenticated. If Spark encrypts its network, nothing is READ
 * unless that is allowed.
 */
final class EncryptionIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;
  private static final Path CAPTURE = Path.of(System.getProperty("sluice.target"), "loopback.pcap");
  private static final String[] AUTHENTICATED = {
    "spark.authenticate", "true",
    "spark.authenticate.secret", "only for this test",
    // Records go uncompressed, so that the capture can be searched for them.
    "spark.shuffle.compress", "false"
  };
  private static final String[] ENCRYPTED_FILES = {"spark.io.encryption.enabled", "true"};
  private static final String[] ALLOW_PLAINTEXT = {"spark.shuffle.rdma.allowPlaintext", "true"};

  @TempDir private static Path folder;
  private static TlsKeys keys;

  /** The ways in which Spark encrypts its network. */
  private enum Encryption {
    NETWORK_CRYPTO,
    SASL,
    RPC_TLS;

    String[] settings() {
      return switch (this) {
        case NETWORK_CRYPTO -> new String[] {"spark.network.crypto.enabled", "true"};
        case SASL -> new String[] {"spark.authenticate.enableSaslEncryption", "true"};
        case RPC_TLS -> keys.settings();
      };
    }
  }

  @BeforeAll
  static void makeKeys() throws Exception {
    keys = TlsKeys.create(folder);
  }

  @Test
  void authenticatedPeersReadFromEachOther() throws Exception {
    try (LocalCluster cluster = start();
        PacketCapture capture = PacketCapture.start(CAPTURE)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      assertThat(recordsInTheClear(capture))
          .as("the capture sees unencrypted records")
          .isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource
  void nothingIsReadWhereTheNetworkIsEncrypted(Encryption encryption) throws Exception {
    try (LocalCluster cluster = start(encryption.settings());
        PacketCapture capture = PacketCapture.start(CAPTURE)) {
      shuffle(cluster);
      PathAssert.allFellBack(cluster, "WIRE_ENCRYPTION");
      assertThat(recordsInTheClear(capture)).isZero();
    }
  }

  @Test
  void encryptedFilesAreNotReadEither() {
    try (LocalCluster cluster = start(Encryption.NETWORK_CRYPTO.settings(), ENCRYPTED_FILES)) {
      shuffle(cluster);
      PathAssert.allFellBack(cluster, "WIRE_ENCRYPTION");
    }
  }

  @ParameterizedTest
  @EnumSource
  void encryptedFilesAreReadWhereThatIsAllowed(Encryption encryption) throws Exception {
    try (LocalCluster cluster = start(encryption.settings(), ENCRYPTED_FILES, ALLOW_PLAINTEXT);
        PacketCapture capture = PacketCapture.start(CAPTURE)) {
      shuffle(cluster);
      PathAssert.allStaged(cluster);
      assertThat(cluster.totals().of("gathered.blocks")).isEqualTo(cluster.totals().read());
      assertThat(recordsInTheClear(capture)).isZero();
    }
  }

  @Test
  void plainFilesAreReadInTheClearWhereThatIsAllowed() throws Exception {
    try (LocalCluster cluster = start(Encryption.NETWORK_CRYPTO.settings(), ALLOW_PLAINTEXT);
        PacketCapture capture = PacketCapture.start(CAPTURE)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      assertThat(recordsInTheClear(capture)).isPositive();
    }
  }

  @Test
  void blockServersSpeakTlsWhereSparkDoes() throws Exception {
    int port = UnusedPort.find();
    String[] atPort = {"spark.shuffle.rdma.port", Integer.toString(port)};
    try (LocalCluster cluster = start(keys.settings(), atPort, ALLOW_PLAINTEXT)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      assertThat(keys.shownBy(executorAddress(cluster), port)).isEqualTo(keys.certificate());
    }
  }

  /** The address of all executors, which run on this machine. */
  private static InetAddress executorAddress(LocalCluster cluster) throws IOException {
    return InetAddress.getByName(
        cluster.context().sc().statusTracker().getExecutorInfos()[0].host());
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
