package dev.sluice.blocks.node;

import dev.sluice.blocks.server.BlockServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where an application's readers and its driver connect to a node: a port of its own, at which its
 * secret is asked for.
 *
 * @param host by which they reach the node
 * @param ports that are tried in turn
 */
record ApplicationPort(String host, int[] ports, ApplicationState state) {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationPort.class);

  /** Where blocks are not READ they send all of them. */
  private static final int MAX_TRANSPORT_THREADS = 8;

  /** With SASL, which {@code spark.authenticate} alone means, as well as Spark's own AES. */
  static TransportConf transport() {
    int threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 2, MAX_TRANSPORT_THREADS);
    return new TransportConf(
        "sluice",
        new MapConfigProvider(
            Map.of(
                "spark.sluice.io.serverThreads", Integer.toString(threads),
                "spark.network.crypto.enabled", "true",
                "spark.network.crypto.saslFallback", "true")));
  }

  /**
   * @param server binds
   * @throws IOException when none of the ports is free
   */
  BlockServer listen(TransportConf conf, Function<BlockServer.Binding, BlockServer> server)
      throws IOException {
    String address = bindAddress();
    List<TransportServerBootstrap> bootstraps = bootstraps(conf);
    Exception failure = null;
    for (int port : ports) {
      try {
        return server.apply(new BlockServer.Binding(conf, address, port, bootstraps));
      } catch (Exception e) { // Netty throws a BindException that it does not declare.
        failure = e;
        LOG.debug("{} is not served at port {}", state, port, e);
      }
    }
    throw new IOException("No port is free of " + Arrays.toString(ports), failure);
  }

  /** The address that readers connect to; null, for all, where it is translated on its way here. */
  private String bindAddress() throws IOException {
    return NetworkInterface.getByInetAddress(InetAddress.getByName(host)) == null ? null : host;
  }

  private List<TransportServerBootstrap> bootstraps(TransportConf conf) {
    return state.secret().isEmpty()
        ? List.of()
        : List.of(new AuthServerBootstrap(conf, new Secret(state.secret())));
  }

  record Secret(String secret) implements SecretKeyHolder {
    /** As Spark's SecurityManager has it. */
    @Override
    public String getSaslUser(String appId) {
      return "sparkSaslUser";
    }

    /** There is one application here, whatever it calls itself. */
    @Override
    public String getSecretKey(String appId) {
      return secret;
    }
  }
}
