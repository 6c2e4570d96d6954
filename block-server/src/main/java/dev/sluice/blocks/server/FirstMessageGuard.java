// SPDX-License-Identifier: Apache-2.0
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
 * Closes a connection whose peer has not sent a valid message in time, or has sent too many bytes
 * before its first one. Spark's transport keeps silent connections for ever, and holds half a frame
 * of up to 2 GiB in memory. The {@link BlockServer} puts it first into each connection's pipeline,
 * on whose thread it runs. The first message removes it, as handlers call {@link #admit} for each;
 * with authentication only a peer that knows the secret can send it.
 */
public final class FirstMessageGuard extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(FirstMessageGuard.class);

  /** Many times the bytes that authentication takes. */
  private static final long MAX_BYTES = 1 << 20;

  private final long timeoutMs;

  @SuppressWarnings("NullAway.Init") // set by handlerAdded(), which Netty calls first
  private Future<?> deadline;

  private long bytes;

  /**
   * @param timeoutMs time to authenticate and to send a first message
   */
  FirstMessageGuard(long timeoutMs) {
    this.timeoutMs = timeoutMs;
  }

  /** Removes the guard from a connection over which a message has come. */
  public static void admit(Channel channel) {
    if (channel.pipeline().get(FirstMessageGuard.class) != null) {
      channel.pipeline().remove(FirstMessageGuard.class);
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
    LOG.debug(
        "Closing the connection from {}: it {} before its first message",
        context.channel().remoteAddress(),
        why);
    context.close();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    deadline.cancel(false);
  }
}
