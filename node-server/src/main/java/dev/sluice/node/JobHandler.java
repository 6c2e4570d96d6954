// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.server.FirstMessageGuard;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.NodeMessages;
import dev.sluice.blocks.wire.NodeMessages.FindJob;
import dev.sluice.node.StateFile.ApplicationState;
import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a reader that has authenticated for a MapReduce job. The first one opens the job. The
 * job's block server answers all but {@link FindJob}, which asks for the server's name. A reader
 * that connects again knows the name, and need not ask. The {@link JobPort} makes a handler for
 * each connection. Only the connection's thread calls it and uses the fields; it never blocks.
 */
final class JobHandler extends RpcHandler {
  /** Limit of the bytes of messages that wait until the job is open. */
  private static final int MAX_WAITING_BYTES = 1 << 20;

  private static final MessageCodec CODEC =
      new MessageCodec(NodeMessages.TYPES, List.of(ControlMessages.REFUSED));

  private final Channel channel;
  private final ApplicationState job;
  private final JobOpener opener;
  private final StreamManager noStreams = new OneForOneStreamManager();

  /** Null until the job is open. */
  private @Nullable JobApplication opened;

  /** Messages that came before the job was open, in their order. */
  private final List<Message> waiting = new ArrayList<>();

  private int waitingBytes;

  /**
   * @param callback null if no answer is expected
   * @param finds true for {@link FindJob}
   */
  private record Message(
      TransportClient client,
      ByteBuffer frame,
      @Nullable RpcResponseCallback callback,
      boolean finds) {
    void fail(Throwable reason) {
      if (callback != null) {
        callback.onFailure(reason);
      }
    }
  }

  JobHandler(Channel channel, ApplicationState job, JobOpener opener) {
    this.channel = channel;
    this.job = job;
    this.opener = opener;
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
    boolean finds = CODEC.knows(frame);
    try {
      if (finds && !isForJob(frame.duplicate())) {
        CODEC.answer(callback, new Refused("the reader is one of " + job.name()));
      } else {
        handle(new Message(client, frame, callback, finds));
      }
    } catch (MessageException e) {
      callback.onFailure(e);
    }
  }

  /** Returns true if the reader asks for the job that it has authenticated for. */
  private boolean isForJob(ByteBuffer frame) throws MessageException {
    if (!(CODEC.decode(frame) instanceof FindJob(String application))) {
      throw new MessageException("the message is not FindJob");
    }
    FirstMessageGuard.admit(channel);
    return application.equals(job.name());
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame) {
    handle(new Message(client, frame, null, false));
  }

  private void handle(Message message) {
    if (opened != null) {
      handle(opened, message);
      return;
    }
    int bytes = message.frame().remaining();
    if (bytes > MAX_WAITING_BYTES - waitingBytes) {
      message.fail(new IOException("too many requests wait until " + job.name() + " is open"));
      return;
    }
    ByteBuffer copy = ByteBuffer.allocate(bytes).put(message.frame()).flip();
    waitingBytes += bytes;
    waiting.add(new Message(message.client(), copy, message.callback(), message.finds()));
    if (waiting.size() == 1) {
      open();
    }
  }

  private static void handle(JobApplication job, Message message) {
    if (message.callback() == null) {
      job.readers().receive(message.client(), message.frame());
    } else if (message.finds()) {
      CODEC.answer(message.callback(), job.entered());
    } else {
      job.readers().receive(message.client(), message.frame(), message.callback());
    }
  }

  private void open() {
    try {
      opener
          .enter(job)
          .whenComplete((found, e) -> channel.eventLoop().execute(() -> answerWaiting(found, e)));
    } catch (RejectedExecutionException e) {
      answerWaiting(null, e);
    }
  }

  /**
   * Handles the messages that wait. Drops them if the reader has gone: its end has been told, and
   * the block server would keep its queue pair.
   *
   * @param found null if the job cannot be opened
   * @param failure null if it is open
   */
  private void answerWaiting(@Nullable JobApplication found, @Nullable Throwable failure) {
    List<Message> messages = List.copyOf(waiting);
    waiting.clear();
    waitingBytes = 0;
    if (!channel.isActive()) {
      return;
    }
    if (found != null) {
      found.enter(channel);
      opened = found;
    }
    for (Message message : messages) {
      try {
        if (found != null) {
          handle(found, message);
        } else {
          refuse(message, reason(failure));
        }
      } catch (RuntimeException e) {
        message.fail(e);
      }
    }
  }

  private static String reason(@Nullable Throwable failure) {
    Throwable reason = failure instanceof CompletionException ? failure.getCause() : failure;
    return reason == null ? "no reason is known" : String.valueOf(reason.getMessage());
  }

  private static void refuse(Message message, String reason) {
    if (message.callback() != null && message.finds()) {
      CODEC.answer(message.callback(), new Refused(reason));
    } else {
      message.fail(new IOException(reason));
    }
  }

  @Override
  public void channelInactive(TransportClient client) {
    if (opened != null) {
      opened.readers().channelInactive(client);
    }
  }

  @Override
  public StreamManager getStreamManager() {
    return noStreams;
  }
}
