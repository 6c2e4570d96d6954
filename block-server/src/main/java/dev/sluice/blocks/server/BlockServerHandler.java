package dev.sluice.blocks.server;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Connected;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.StageFor;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.QueuePairAcceptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers one peer's request after the other on the transport's threads, or later on those of the
 * registry, the stager and the table server. Each request gets one answer; what is not a message
 * gets a failure, and the connection stays.
 */
final class BlockServerHandler extends RpcHandler {
  private static final Logger LOG = LoggerFactory.getLogger(BlockServerHandler.class);

  private final MessageCodec codec;
  private final ProcessName self;
  private final String providerName;
  private final QueuePairAcceptor acceptor;
  private final MapOutputRegistry registry;
  private final Stager stager;
  private final TableServer tables;
  private final StreamManager noStreams = new OneForOneStreamManager();

  /**
   * Those that asked for queue pairs, by their connections to here. Guarded by itself: one that
   * connects anew is here before it has a queue pair, or has left before it is accepted.
   */
  private final Map<TransportClient, String> peers = new HashMap<>();

  BlockServerHandler(
      MessageCodec codec,
      ProcessName self,
      String providerName,
      QueuePairAcceptor acceptor,
      MapOutputRegistry registry,
      Stager stager,
      TableServer tables) {
    this.codec = codec;
    this.self = self;
    this.providerName = providerName;
    this.acceptor = acceptor;
    this.registry = registry;
    this.stager = stager;
    this.tables = tables;
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
    try {
      switch (decode(client, frame)) {
        case Connect connect -> connect(client, connect, answer -> answer(callback, answer));
        case Resolve resolve -> resolve(resolve, callback);
        case GetTables wanted ->
            tables.get(client, client::isActive, wanted, answer -> answer(callback, answer));
        case StageFor(String peerId, Stage stage) ->
            stager.stage(peerId, client::isActive, stage, answer -> answer(callback, answer));
        case Object other ->
            throw new MessageException(other.getClass().getName() + " is not a request");
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("Request from {} failed", client.getSocketAddress(), e);
      callback.onFailure(e);
    }
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame) {
    try {
      switch (decode(client, frame)) {
        case Released released -> acceptor.disconnected(released.peerId(), released.qpNumber());
        case Touch touch -> registry.touch(touch.shuffleId());
        case Done done when done.addressee().equals(self) ->
            stager.done(done.peerId(), done.leaseId());
        case Done other -> LOG.debug("A lease of {} is given back to {}", other.addressee(), self);
        case Object other ->
            throw new MessageException(other.getClass().getName() + " is not a one-way message");
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("Message from {} failed", client.getSocketAddress(), e);
    }
  }

  private Object decode(TransportClient client, ByteBuffer frame) throws MessageException {
    Object message = codec.decode(frame);
    StrangerGuard.admit(client.getChannel());
    return message;
  }

  private void connect(TransportClient client, Connect request, Consumer<Object> answer) {
    if (!request.addressee().equals(self)) {
      answer.accept(new Refused("this is " + self + " and not " + request.addressee()));
      return;
    }
    if (!request.providerName().equals(providerName)) {
      answer.accept(
          new Refused(
              "provider is %s here and %s at %s"
                  .formatted(providerName, request.providerName(), request.peerId())));
      return;
    }
    synchronized (peers) {
      peers.put(client, request.peerId());
    }
    acceptor
        .accept(request.peerId(), request.queuePair())
        .whenComplete((accepted, e) -> answer.accept(connected(request, accepted, e)));
  }

  private static Object connected(Connect request, QueuePairAddress accepted, Throwable e) {
    if (e != null) {
      LOG.warn("No queue pair for {}: {}", request.peerId(), e.getMessage());
      return new Refused(String.valueOf(e.getMessage()));
    }
    return new Connected(accepted);
  }

  private void resolve(Resolve request, RpcResponseCallback callback) throws MessageException {
    if (request.mapIds().length > ControlMessages.MAX_RESOLVE) {
      throw new MessageException(
          "%d map outputs asked for at once, %d are allowed"
              .formatted(request.mapIds().length, ControlMessages.MAX_RESOLVE));
    }
    registry
        .resolve(request.shuffleId(), request.mapIds())
        .whenComplete(
            (locations, e) -> {
              if (e == null) {
                answer(callback, new Resolved(locations));
              } else {
                callback.onFailure(e);
              }
            });
  }

  private void answer(RpcResponseCallback callback, Object message) {
    try {
      callback.onSuccess(ByteBuffer.wrap(codec.encode(message)));
    } catch (MessageException e) {
      callback.onFailure(e);
    }
  }

  @Override
  public void channelInactive(TransportClient client) {
    synchronized (peers) {
      String peerId = peers.remove(client);
      // A peer that has connected anew has not left, when its old connection's end is noticed at
      // last.
      if (peerId != null && !peers.containsValue(peerId)) {
        acceptor.peerLeft(peerId);
      }
    }
  }

  @Override
  public StreamManager getStreamManager() {
    return noStreams;
  }
}
