package dev.sluice.blocks.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a connection to a block server that has not said anything sensible in time, or has sent
 * too much before: Spark's transport keeps silent connections for ever, and half a frame of up to 2
 * GiB in memory. First in the connection's pipeline, on its thread; goes when the first message has
 * come, which with authentication only those can send who know the secret.
 */
public final class StrangerGuard extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(StrangerGuard.class);

  /** Many times what authentication takes. */
  private static final long MAX_BYTES = 1 << 20;

  private final long timeoutMs;
  private Future<?> deadline;
  private long bytes;

  /**
   * @param timeoutMs time to authenticate and to say something
   */
  StrangerGuard(long timeoutMs) {
    this.timeoutMs = timeoutMs;
  }

  /** A message has come over this connection: it is no stranger's any more. */
  public static void admit(Channel channel) {
    if (channel.pipeline().get(StrangerGuard.class) != null) {
      channel.pipeline().remove(StrangerGuard.class);
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    deadline =
        context
            .executor()
            .schedule(() -> close(context, "was silent"), timeoutMs, TimeUnit.MILLISECONDS);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    bytes += message instanceof ByteBuf buffer ? buffer.readableBytes() : 0;
    if (bytes > MAX_BYTES) {
      close(context, "sent more than " + MAX_BYTES + " bytes");
    }
    super.channelRead(context, message);
  }

  private static void close(ChannelHandlerContext context, String why) {
    LOG.debug("{} {} before its first message", context.channel().remoteAddress(), why);
    context.close();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    deadline.cancel(false);
  }
}
