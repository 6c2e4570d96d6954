package dev.sluice.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.PeerAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Spark's authentication decides who gets a queue pair or a location. */
class BlockServerSecurityTest {
  private static final int TIMEOUT_MS = 10_000;
  private static final TransportConf CONF =
      new TransportConf(
          "sluice",
          new MapConfigProvider(
              Map.of(
                  "spark.sluice.io.serverThreads", "1",
                  "spark.sluice.io.clientThreads", "1",
                  "spark.network.crypto.enabled", "true",
                  "spark.network.crypto.saslFallback", "false")));

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final FakeAcceptor acceptor = new FakeAcceptor();
  private MapOutputRegistry registry;
  private BlockServer server;
  private PeerAddress peer;

  /** The same secret for every application. */
  private record Secret(String secret) implements SecretKeyHolder {
    @Override
    public String getSaslUser(String appId) {
      return "user";
    }

    @Override
    public String getSecretKey(String appId) {
      return secret;
    }
  }

  @BeforeEach
  void open() throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(directory);
    outputs.write(1, 7, 10);
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(1 << 20, 100, 1_000, false),
            new RecordingListener(),
            () -> 0);
    server =
        new BlockServer(
            CONF,
            "localhost",
            0,
            List.of(new AuthServerBootstrap(CONF, new Secret("right"))),
            "soft",
            acceptor,
            registry);
    peer = new PeerAddress("server", "localhost", server.port());
  }

  @AfterEach
  void close() {
    server.close();
    registry.close();
  }

  private BlockServerClient client(TransportClientBootstrap... bootstraps) {
    return new BlockServerClient("client", CONF, List.of(bootstraps), TIMEOUT_MS, () -> 0);
  }

  private TransportClientBootstrap auth(String secret) {
    return new AuthClientBootstrap(CONF, "app", new Secret(secret));
  }

  private void assertRefused(BlockServerClient client) {
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
    assertThat(acceptor.events).isEmpty();
    assertThat(domain.openRegions()).isZero();
  }

  @Test
  void theRightSecretGetsAQueuePairAndLocations() throws Exception {
    try (BlockServerClient client = client(auth("right"))) {
      assertThat(
              client
                  .exchange(peer, "soft", FakeAcceptor.queuePair(7))
                  .get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS)
                  .qpNumber())
          .isEqualTo(8);
      assertThat(
              client
                  .resolve(peer, 1, new long[] {7})
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
}
