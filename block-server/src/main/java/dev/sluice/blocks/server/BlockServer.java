// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.QueuePairAcceptor;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;

/**
 * Server side of the control channel. Peers ask it for queue pairs, for locations and for blocks
 * that are not registered. It runs over Spark's own transport, whose bootstraps authenticate peers
 * (spark.authenticate, TLS). It sends no byte of a block.
 *
 * <p>An executor's {@code ReadingRuntime} creates one, a node daemon one for each application of
 * Spark, and one for all MapReduce jobs. The creator closes it before the stager, the registry and
 * the RDMA endpoint that it hands requests to. The transport's threads handle requests. Each peer
 * process has one connection: 1,000 executors make 1,000 sockets, on as many threads as the
 * transport is configured with.
 */
public final class BlockServer implements AutoCloseable {
  /**
   * Address to listen on, and authentication of peers.
   *
   * @param host address to bind to; null for all
   * @param port 0 for any
   * @param bootstraps authenticate new connections
   */
  public record Binding(
      TransportConf conf,
      @Nullable String host,
      int port,
      List<TransportServerBootstrap> bootstraps) {}

  private final TransportContext context;
  private final TransportServer server;

  /**
   * Binds at once.
   *
   * @param self this process; refuses a peer that addresses another process
   * @param providerName provider of this process's device; refuses a peer whose provider differs
   */
  public BlockServer(
      Binding binding,
      ProcessName self,
      String providerName,
      QueuePairAcceptor acceptor,
      MapOutputRegistry registry,
      Stager stager) {
    this(binding, handler(self, providerName, acceptor, registry, stager));
  }

  /**
   * Binds at once. For a server that answers other messages, too.
   *
   * @param handler gets all requests; calls {@link FirstMessageGuard#admit} for each, or leaves it
   *     to {@link #handler}
   */
  public BlockServer(Binding binding, RpcHandler handler) {
    context = new TransportContext(binding.conf(), handler);
    List<TransportServerBootstrap> guarded = new ArrayList<>(binding.bootstraps());
    guarded.addFirst(guard(binding.conf().authRTTimeoutMs()));
    try {
      server = context.createServer(binding.host(), binding.port(), guarded);
    } catch (Throwable e) { // Netty throws exceptions that createServer does not declare.
      context.close();
      throw e;
    }
  }

  /**
   * Returns a handler of {@link ControlMessages}. Several connections share it.
   *
   * @param self this process; refuses a peer that addresses another process
   * @param providerName provider of this process's device; refuses a peer whose provider differs
   */
  public static RpcHandler handler(
      ProcessName self,
      String providerName,
      QueuePairAcceptor acceptor,
      MapOutputRegistry registry,
      Stager stager) {
    return new BlockServerHandler(
        new MessageCodec(ControlMessages.TYPES), self, providerName, acceptor, registry, stager);
  }

  private static TransportServerBootstrap guard(long timeoutMs) {
    return (channel, handler) -> {
      channel.pipeline().addFirst(new FirstMessageGuard(timeoutMs));
      return handler;
    };
  }

  /** TCP port that the server listens on. */
  public int port() {
    return server.getPort();
  }

  @Override
  public void close() {
    server.close();
    context.close();
  }
}
