// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.server.FirstMessageGuard;
import dev.sluice.blocks.wire.LifetimeMessages;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeRequest;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.VersionRequest;
import dev.sluice.blocks.wire.LifetimeMessages.VersionResponse;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.shuffle.protocol.BlockTransferMessage;

/**
 * Handles requests at an application's port of a node: those to any block server, those of Spark's
 * own transfer of blocks, and the driver's messages about lifetimes. The {@link SparkApplication}
 * creates it. The transport's threads call it, and must not block here; the application has its
 * own.
 */
final class NodeHandler extends RpcHandler {
  private final RpcHandler peers;
  private final ExternalBlockHandler blocks;
  private final Function<NodeRequest, CompletableFuture<NodeResponse>> lifetimes;
  private final Runnable end;
  private final Runnable sign;
  private final MessageCodec codec = new MessageCodec(LifetimeMessages.TYPES);

  /**
   * @param peers answers requests to any block server
   * @param blocks answers requests of Spark's own transfer
   * @param lifetimes handles a driver's message, or refuses it; never blocks
   * @param end closes the application, this handler included, once the driver has its answer; must
   *     not block
   * @param sign called for each message of an executor: the application lives
   */
  NodeHandler(
      RpcHandler peers,
      ExternalBlockHandler blocks,
      Function<NodeRequest, CompletableFuture<NodeResponse>> lifetimes,
      Runnable end,
      Runnable sign) {
    this.peers = peers;
    this.blocks = blocks;
    this.lifetimes = lifetimes;
    this.end = end;
    this.sign = sign;
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
    if (codec.knows(frame)) {
      hear(client, frame, callback);
    } else if (isFetch(frame)) {
      sign.run();
      FirstMessageGuard.admit(client.getChannel());
      blocks.receive(client, frame, callback);
    } else {
      sign.run();
      peers.receive(client, frame, callback);
    }
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame) {
    sign.run();
    peers.receive(client, frame);
  }

  /** Returns true for requests for blocks. Spark's messages to register or remove are refused. */
  private static boolean isFetch(ByteBuffer frame) {
    byte type = frame.hasRemaining() ? frame.get(frame.position()) : -1;
    return type == BlockTransferMessage.Type.OPEN_BLOCKS.id()
        || type == BlockTransferMessage.Type.FETCH_SHUFFLE_BLOCKS.id()
        || type == BlockTransferMessage.Type.DIAGNOSE_CORRUPTION.id();
  }

  private void hear(TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
    try {
      Object message = codec.decode(frame);
      FirstMessageGuard.admit(client.getChannel());
      switch (message) {
        case NodeRequest told -> hear(client, told, callback);
        case VersionRequest() ->
            codec.answer(callback, new VersionResponse(NodeMain.buildVersion().orElse("")));
        default -> throw new MessageException("the message is not a request");
      }
    } catch (MessageException e) {
      callback.onFailure(e);
    }
  }

  private void hear(TransportClient client, NodeRequest told, RpcResponseCallback callback) {
    lifetimes
        .apply(told)
        .whenComplete(
            (heard, failure) -> {
              if (failure == null) {
                codec.answer(callback, heard);
              } else {
                callback.onFailure(failure);
              }
            })
        .thenRun(
            () -> {
              if (told.lifetime() instanceof EndApplication) {
                client.getChannel().eventLoop().execute(end); // after the answer
              }
            });
  }

  @Override
  public void channelInactive(TransportClient client) {
    peers.channelInactive(client);
    blocks.channelInactive(client);
  }

  @Override
  public void channelActive(TransportClient client) {
    blocks.channelActive(client);
  }

  /** Chunks and streams belong to Spark's own transfer. */
  @Override
  public StreamManager getStreamManager() {
    return blocks.getStreamManager();
  }
}
