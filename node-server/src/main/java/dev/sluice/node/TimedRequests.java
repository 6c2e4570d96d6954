// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;

/**
 * Measures how long an application's block server takes to answer. {@link ServedApplication} makes
 * one around the server's handler. Any thread; nothing to close.
 */
final class TimedRequests extends RpcHandler {
  /** Upper bounds of the buckets in seconds: from 0.1 ms, each four times the one before. */
  private static final double FIRST_BOUND = 1e-4;

  private static final int BOUNDS = 10;

  private final RpcHandler server;
  private final Histogram seconds =
      Histogram.builder()
          .name("seconds")
          .classicOnly()
          .classicExponentialUpperBounds(FIRST_BOUND, 4, BOUNDS)
          .withoutExemplars()
          .build();

  TimedRequests(RpcHandler server) {
    this.server = server;
  }

  /** Returns the times so far, with these labels. */
  HistogramDataPointSnapshot snapshot(Labels labels) {
    HistogramDataPointSnapshot times = seconds.collect().getDataPoints().getFirst();
    return new HistogramDataPointSnapshot(
        times.getClassicBuckets(),
        times.getSum(),
        labels,
        Exemplars.EMPTY,
        times.getCreatedTimestampMillis());
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
    long begunNanos = System.nanoTime();
    server.receive(
        client,
        frame,
        new RpcResponseCallback() {
          @Override
          public void onSuccess(ByteBuffer response) {
            observe(begunNanos);
            callback.onSuccess(response);
          }

          @Override
          public void onFailure(Throwable e) {
            observe(begunNanos);
            callback.onFailure(e);
          }
        });
  }

  private void observe(long begunNanos) {
    seconds.observe((System.nanoTime() - begunNanos) / (double) TimeUnit.SECONDS.toNanos(1));
  }

  @Override
  public void receive(TransportClient client, ByteBuffer frame) {
    server.receive(client, frame);
  }

  @Override
  public void channelActive(TransportClient client) {
    server.channelActive(client);
  }

  @Override
  public void channelInactive(TransportClient client) {
    server.channelInactive(client);
  }

  @Override
  public void exceptionCaught(Throwable cause, TransportClient client) {
    server.exceptionCaught(cause, client);
  }

  @Override
  public StreamManager getStreamManager() {
    return server.getStreamManager();
  }
}
