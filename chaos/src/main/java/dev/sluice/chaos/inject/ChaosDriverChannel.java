// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.ExecutorEndpoint;
import java.io.IOException;

/**
 * A channel to the driver that loses, delays and doubles messages when ordered. It publishes the
 * address of the harness's proxy instead of the executor's block server. {@link
 * ChaosShuffleManager} creates it; the calling threads are those of the wrapped channel, and wait
 * when ordered.
 */
record ChaosDriverChannel(DriverChannel channel, ChaosAgent agent, ControlProxy proxy)
    implements DriverChannel {
  /** Delay of a late publication. */
  private static final long LATE_MS = 1_000;

  @Override
  public DirectoryMessage ask(DirectoryMessage message) throws IOException {
    if (agent.strikes(Injection.DRIVER_UNREACHABLE)) {
      throw new IOException("the fault harness has cut the connection to the driver");
    }
    if (agent.strikes(Injection.DRIVER_SLOW)) {
      ControlProxy.pause(500 + agent.choose(1_500));
    }
    if (message instanceof Publish publish) {
      return publish(publish);
    }
    DirectoryMessage answer = channel.ask(message);
    if (message instanceof Locate) {
      agent.stopAt(Injection.STOP_BEFORE_ASKING);
    }
    return answer;
  }

  @Override
  public boolean hasDirectory() {
    return channel.hasDirectory();
  }

  private DirectoryMessage publish(Publish publish) throws IOException {
    Publish passed = new Publish(shown(publish.endpoint()), publish.outputs());
    if (publish.outputs().isEmpty()) {
      return channel.ask(passed);
    }
    if (agent.strikes(Injection.PUBLISH_LOST)) {
      return new Ack();
    }
    if (agent.strikes(Injection.PUBLISH_LATE)) {
      ControlProxy.pause(LATE_MS);
    }
    if (agent.strikes(Injection.PUBLISH_TWICE)) {
      channel.ask(passed);
    }
    return channel.ask(passed);
  }

  /** Returns the endpoint behind the proxy; not for a node daemon, which outlives the proxy. */
  private ExecutorEndpoint shown(ExecutorEndpoint endpoint) throws IOException {
    if (endpoint.outlivesExecutor()) {
      return endpoint;
    }
    PeerAddress own = endpoint.peer();
    return new ExecutorEndpoint(
        new PeerAddress(own.id(), own.host(), proxy.inFrontOf(own.host(), own.port())),
        endpoint.provider());
  }
}
