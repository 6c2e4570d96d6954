// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Spark's authentication decides which peers get a queue pair or a location. */
@ParameterizedClass(name = "network encryption {0}")
@ValueSource(booleans = {true, false})
class BlockServerSecurityTest {
  private static final int TIMEOUT_MS = 10_000;

  /** {@code spark.authenticate} alone means SASL, with network encryption Spark's own protocol. */
  @Parameter private boolean crypto;

  @TempDir Path directory;
  private TransportConf conf;
  private TestBlockServer server;

  @BeforeEach
  void open() throws Exception {
    conf =
        TestBlockServer.conf(
            Map.of(
                "spark.network.crypto.enabled",
                Boolean.toString(crypto),
                "spark.network.crypto.saslFallback",
                "false"));
    server =
        new TestBlockServer(
            directory, conf, new AuthServerBootstrap(conf, new ApplicationSecret("right")));
    server.outputs.write(1, 7, 10);
  }

  @AfterEach
  void close() {
    server.close();
  }

  private BlockServerClient client(TransportClientBootstrap... bootstraps) {
    return new BlockServerClient(
        TestBlockServer.CLIENT,
        conf,
        List.of(bootstraps),
        TransferOptions.DEFAULT,
        TIMEOUT_MS,
        () -> 0,
        Thread::startVirtualThread);
  }

  private TransportClientBootstrap auth(String secret) {
    return auth("app", secret);
  }

  private TransportClientBootstrap auth(String application, String secret) {
    return new AuthClientBootstrap(conf, application, new ApplicationSecret(secret));
  }

  private void assertRefused(BlockServerClient client) {
    assertRefused(client, server.peer());
    assertThat(server.acceptor.events).isEmpty();
    assertThat(server.domain.openRegions()).isZero();
  }

  private static void assertRefused(BlockServerClient client, PeerAddress peer) {
    assertThatThrownBy(
            () ->
                client
                    .exchange(peer, "soft", FakeAcceptor.queuePair(7))
                    .get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS))
        .cause()
        .isInstanceOf(java.io.IOException.class);
    assertThatThrownBy(
            () ->
                client.resolve(peer, 1, new long[] {7}).get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS))
        .cause()
        .isInstanceOf(java.io.IOException.class);
  }

  @Test
  void theRightSecretGetsAQueuePairAndLocations() throws Exception {
    try (BlockServerClient client = client(auth("right"))) {
      assertThat(
              client
                  .exchange(server.peer(), "soft", FakeAcceptor.queuePair(7))
                  .get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS)
                  .qpNumber())
          .isEqualTo(8);
      assertThat(
              client
                  .resolve(server.peer(), 1, new long[] {7})
                  .get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS)
                  .getFirst()
                  .mapId())
          .isEqualTo(7);
    }
  }

  @Test
  void theWrongSecretIsRefused() {
    try (BlockServerClient client = client(auth("wrong"))) {
      assertRefused(client);
    }
  }

  @Test
  void noSecretIsRefused() {
    try (BlockServerClient client = client()) {
      assertRefused(client);
    }
  }

  @Test
  void anotherApplicationIsRefused() {
    try (BlockServerClient client = client(auth("other", "of the other"))) {
      assertRefused(client);
    }
  }

  @Test
  void replayedMessagesOfARightfulClientAreRefused() throws Exception {
    try (RecordingProxy proxy = new RecordingProxy(server.port());
        BlockServerClient client = client(auth("right"))) {
      PeerAddress proxied = new PeerAddress("server", "localhost", proxy.port());
      client
          .exchange(proxied, "soft", FakeAcceptor.queuePair(7))
          .get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS);
      assertThat(server.acceptor.events).hasSize(1);
      try (Socket replay = new Socket("localhost", server.port())) {
        replay.setSoTimeout(2 * TIMEOUT_MS);
        replay.getOutputStream().write(proxy.said());
        replay.shutdownOutput();
        replay.getInputStream().readAllBytes(); // until the server has handled all of it
      }
    }
    assertThat(server.acceptor.events)
        .filteredOn(event -> event.startsWith("accepted"))
        .containsExactly("accepted client 7");
  }

  @Test
  void aServerThatAnswersWithTheClientsOwnWordsIsToldNothing() throws Exception {
    try (MirrorServer mirror = new MirrorServer();
        BlockServerClient client = client(auth("right"))) {
      assertRefused(client, new PeerAddress("mirror", "localhost", mirror.port()));
      assertThat(mirror.reflected()).as("requests before the client gave up").isPositive();
    }
  }
}
