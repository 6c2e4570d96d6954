package dev.sluice.blocks.server;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.QueuePairAcceptor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.TransportConf;

/**
 * Where peers ask this process for queue pairs, for locations and for what is not registered, over
 * Spark's own transport: the bootstraps decide who may ask (spark.authenticate, TLS), and no byte
 * of a block goes this way.
 *
 * <p>Created by the shuffle manager once per process, which closes it before the registry and the
 * RDMA endpoint that it hands requests to. Requests are handled on the transport's threads. One
 * connection per peer process: 1,000 executors make 1,000 sockets, on as many threads as the
 * transport is configured with.
 */
public final class BlockServer implements AutoCloseable {
  /**
   * Where it listens, and whom it lets ask.
   *
   * @param host address to bind to; null for all
   * @param port 0 for any
   * @param bootstraps authenticate those who connect
   */
  public record Binding(
      TransportConf conf, String host, int port, List<TransportServerBootstrap> bootstraps) {}

  private final TransportContext context;
  private final TransportServer server;
  private final TableServer tables;

  /**
   * Binds at once.
   *
   * @param self this process: a peer that wants another one is refused
   * @param providerName provider of this process's device; peers with another one are refused
   */
  public BlockServer(
      Binding binding,
      ProcessName self,
      String providerName,
      QueuePairAcceptor acceptor,
      MapOutputRegistry registry,
      Stager stager) {
    this(binding, self, providerName, acceptor, registry, stager, UnaryOperator.identity());
  }

  /**
   * Binds at once.
   *
   * @param around gets what answers the messages of {@link ControlMessages}, and gives what is
   *     asked in its place: it may answer others itself
   */
  public BlockServer(
      Binding binding,
      ProcessName self,
      String providerName,
      QueuePairAcceptor acceptor,
      MapOutputRegistry registry,
      Stager stager,
      UnaryOperator<RpcHandler> around) {
    MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
    tables = new TableServer(registry);
    RpcHandler handler =
        new BlockServerHandler(codec, self, providerName, acceptor, registry, stager, tables);
    context = new TransportContext(binding.conf(), around.apply(handler));
    List<TransportServerBootstrap> guarded = new ArrayList<>(binding.bootstraps());
    guarded.addFirst(guard(binding.conf().authRTTimeoutMs()));
    try {
      server = context.createServer(binding.host(), binding.port(), guarded);
    } catch (Throwable e) { // Netty throws what nobody declares.
      context.close();
      throw e;
    }
  }

  private static TransportServerBootstrap guard(long timeoutMs) {
    return (channel, handler) -> {
      channel.pipeline().addFirst(new StrangerGuard(timeoutMs));
      return handler;
    };
  }

  /** The TCP port that it listens on. */
  public int port() {
    return server.getPort();
  }

  @Override
  public void close() {
    server.close();
    context.close();
    tables.close();
  }
}
