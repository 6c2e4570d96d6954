// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Connected;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.Notice;
import dev.sluice.blocks.wire.ControlMessages.Question;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RateLimitedLog;
import dev.sluice.rdma.transfer.QueuePairAcceptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the requests of peers. The {@link BlockServer} creates it. The transport's threads call
 * it, one request of a connection after the other, and must not block here. Answers come on these
 * threads, or later on those of the registry and the stager. Each request gets one answer. A frame
 * that is not a message gets a failure, and its connection stays open.
 */
final class BlockServerHandler extends RpcHandler {
  private static final Logger LOG = LoggerFactory.getLogger(BlockServerHandler.class);

  private final MessageCodec codec;
  private final ProcessName self;
  private final String providerName;
  private final QueuePairAcceptor acceptor;
  private final MapOutputRegistry registry;
  private final Stager stager;
  private final StreamManager noStreams = new OneForOneStreamManager();
  private final PeerConnections peers;
  private final RateLimitedLog failedConnects = new RateLimitedLog();

  BlockServerHandler(
      MessageCodec codec,
      ProcessName self,
      String providerName,
      QueuePairAcceptor acceptor,
      MapOutputRegistry registry,
      Stager stager) {
    this.codec = codec;
    this.self = self;
    this.providerName = providerName;
    this.acceptor = acceptor;
    this.registry = registry;
    this.stager = stager;
    this.peers = new PeerConnections(acceptor);
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
    try {
      switch (decode(client, frame)) {
        case Connect connect -> connect(client, connect, answer -> codec.answer(callback, answer));
        case Addressed(ProcessName addressee, _, Question question) when !addressee.equals(self) ->
            codec.answer(callback, question.refusal(isNot(addressee)));
        case Addressed(_, String senderId, Question question) -> {
          peers.heardFrom(client, senderId);
          answer(client, senderId, question, callback);
        }
        case Object other ->
            throw new MessageException(other.getClass().getName() + " is not a request");
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("Request from {} failed", client.getSocketAddress(), e);
      callback.onFailure(e);
    }
  }

  private String isNot(ProcessName addressee) {
    return "this is " + self + " and not " + addressee;
  }

  private void answer(
      TransportClient client, String peerId, Question question, RpcResponseCallback callback)
      throws MessageException {
    switch (question) {
      case Resolve resolve -> resolve(resolve, callback);
      case Stage stage ->
          stager.stage(peerId, client::isActive, stage, answer -> codec.answer(callback, answer));
    }
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame) {
    try {
      switch (decode(client, frame)) {
        case Done done when done.addressee().equals(self) ->
            stager.done(done.peerId(), done.leaseId());
        case Done other ->
            LOG.debug("Ignoring the end of a lease of {}: this is {}", other.addressee(), self);
        case Addressed(ProcessName addressee, _, Notice notice) when !addressee.equals(self) ->
            LOG.debug("Ignoring {}: {}", notice, isNot(addressee));
        case Addressed(_, String senderId, Notice notice) -> {
          peers.heardFrom(client, senderId);
          take(notice);
        }
        case Object other ->
            throw new MessageException(other.getClass().getName() + " is not a one-way message");
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("Message from {} failed", client.getSocketAddress(), e);
    }
  }

  private void take(Notice notice) {
    switch (notice) {
      case Released released -> acceptor.disconnected(released.peerId(), released.qpNumber());
      case Touch touch -> registry.touch(touch.shuffleId());
    }
  }

  private Object decode(TransportClient client, ByteBuffer frame) throws MessageException {
    Object message = codec.decode(frame);
    FirstMessageGuard.admit(client.getChannel());
    return message;
  }

  private void connect(TransportClient client, Connect request, Consumer<Object> answer) {
    if (!request.addressee().equals(self)) {
      answer.accept(new Refused(isNot(request.addressee())));
      return;
    }
    if (!request.providerName().equals(providerName)) {
      answer.accept(
          new Refused(
              "the RDMA provider is %s here, but %s at %s"
                  .formatted(providerName, request.providerName(), request.peerId())));
      return;
    }
    peers.connects(client, request.peerId());
    acceptor
        .accept(request.peerId(), request.queuePair())
        .whenComplete((accepted, e) -> answer.accept(connected(request, accepted, e)));
  }

  private Object connected(Connect request, QueuePairAddress accepted, Throwable e) {
    if (e != null) {
      long times = failedConnects.add(System.nanoTime());
      if (times > 0) {
        LOG.warn(
            "{}: connecting a queue pair to {} failed: {}; {} such failures since this was last"
                + " logged",
            self,
            request.peerId(),
            e.getMessage(),
            times);
      }
      LOG.debug("Connecting a queue pair to {} failed", request.peerId(), e);
      return new Refused(String.valueOf(e.getMessage()));
    }
    return new Connected(accepted);
  }

  private void resolve(Resolve request, RpcResponseCallback callback) throws MessageException {
    if (request.mapIds().length > ControlMessages.MAX_RESOLVE) {
      throw new MessageException(
          "request for %d map outputs, but at most %d are allowed"
              .formatted(request.mapIds().length, ControlMessages.MAX_RESOLVE));
    }
    registry
        .resolve(request.shuffleId(), request.mapIds())
        .whenComplete(
            (locations, e) -> {
              if (e == null) {
                codec.answer(callback, new Resolved(locations));
              } else {
                callback.onFailure(e);
              }
            });
  }

  @Override
  public void channelInactive(TransportClient client) {
    peers.ended(client);
  }

  @Override
  public StreamManager getStreamManager() {
    return noStreams;
  }
}
