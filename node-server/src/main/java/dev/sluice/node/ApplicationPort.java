// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.node.StateFile.ApplicationState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Port of one application of Spark at a node, for its readers and its driver. Connections have to
 * authenticate with the application's secret, if it has one. The {@link NodeDaemon} makes it; the
 * {@link SparkApplication} listens, once.
 *
 * @param host address by which they reach the node
 * @param ports ports to try, in order
 */
record ApplicationPort(String host, int[] ports, ApplicationState state) {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationPort.class);

  /** Threads of a port, which at an application of Spark send all blocks that are not READ. */
  private static final int MAX_TRANSPORT_THREADS = 8;

  /** Transport of a port at a node. */
  static TransportConf transport() {
    int threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 2, MAX_TRANSPORT_THREADS);
    return ApplicationSecret.transport(
        Map.of("spark.sluice.io.serverThreads", Integer.toString(threads)));
  }

  /**
   * @param handler gets all requests of connections that have authenticated
   * @throws IOException if none of the ports is free
   */
  BlockServer listen(TransportConf conf, RpcHandler handler) throws IOException {
    String address = bindAddress(host);
    List<TransportServerBootstrap> bootstraps = bootstraps(conf);
    Exception failure = null;
    for (int port : ports) {
      try {
        return new BlockServer(new BlockServer.Binding(conf, address, port, bootstraps), handler);
      } catch (Exception e) { // Netty throws a BindException without declaring it.
        failure = e;
        LOG.debug("Application {} cannot be served at port {}", state, port, e);
      }
    }
    throw new IOException(
        "none of the ports %s is free (%s)"
            .formatted(Arrays.toString(ports), NodeSettings.PORTS.key()),
        failure);
  }

  /** Address that readers connect to; null (all) if it is translated on its way to this machine. */
  static @Nullable String bindAddress(String host) throws IOException {
    InetAddress address = InetAddress.getByName(host);
    return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null
        ? host
        : null;
  }

  private List<TransportServerBootstrap> bootstraps(TransportConf conf) {
    return state.secret().isEmpty()
        ? List.of()
        : List.of(new AuthServerBootstrap(conf, new ApplicationSecret(state.secret())));
  }
}
