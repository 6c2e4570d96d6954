// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import dev.sluice.blocks.wire.Fields.Kinds;
import dev.sluice.blocks.wire.Fields.ShuffleId;
import java.util.List;

/**
 * Messages of an application's driver to the block servers of its nodes, at the application's own
 * port there. They tell which shuffles are over, and that the application lives or is over, and ask
 * for the daemon's version. The driver's {@code NodeLifetimes} sends them by {@link
 * dev.sluice.blocks.client.BlockServerClient}, on any thread. The node's {@code NodeHandler}
 * decodes and answers them on the transport's threads, which must not block.
 *
 * <p>A message does not change once it is made, and its arrays are not copied. Ids, fields and
 * their order never change, as in {@link ControlMessages}.
 */
public final class LifetimeMessages {
  /** {@link NodeMessages} have the smaller ids, from 64. */
  private static final int FIRST_ID = 72;

  /** These types and their successors have ids from 72 to 79. */
  public static final List<MessageType<?>> TYPES =
      List.of(
          new MessageType<>(FIRST_ID + 3, NodeResponse.class),
          new MessageType<>(FIRST_ID + 4, NodeRequest.class),
          new MessageType<>(FIRST_ID + 5, VersionRequest.class),
          new MessageType<>(FIRST_ID + 6, VersionResponse.class));

  private LifetimeMessages() {}

  /**
   * A message of the driver; answered by {@link NodeResponse}.
   *
   * @param application the driver's application; another one may have the port by now
   */
  public record NodeRequest(String application, Lifetime lifetime) {}

  /** Content about the application that {@link NodeRequest} names. */
  @Kinds({RemoveShuffle.class, EndApplication.class, Renew.class})
  public sealed interface Lifetime permits RemoveShuffle, EndApplication, Renew {}

  /** Asks for the daemon's version; answered by {@link VersionResponse}. */
  public record VersionRequest() {}

  /**
   * @param version version and commit of Sluice; empty if they are unknown
   */
  public record VersionResponse(String version) {}

  /** The shuffle is over: the node removes its regions and files. */
  public record RemoveShuffle(@ShuffleId int shuffleId) implements Lifetime {}

  /** The application is over: the node removes all of it. */
  public record EndApplication() implements Lifetime {}

  /**
   * The application lives. The node removes each shuffle that is not listed, unless a map output
   * was added to it since the node's last answer.
   *
   * @param lastHeard last answer of the node before the shuffles were listed, so that a late
   *     message removes nothing newer. If the node has restarted since, it removes nothing.
   * @param liveShuffles all shuffles that are not over
   */
  public record Renew(NodeResponse lastHeard, int[] liveShuffles) implements Lifetime {}

  /**
   * The node has received the message.
   *
   * @param nodeId the {@link NodeId} of the node daemon; changes when the server restarts, which
   *     makes its earlier locations stale
   * @param nodeNanos time of receipt, by the node's own clock
   */
  public record NodeResponse(String nodeId, long nodeNanos) {
    /** Stands for a node that has not answered yet. */
    public static final NodeResponse NEVER = new NodeResponse("", 0);

    /**
     * Returns true if the node still has the map outputs that it took under an earlier id, apart
     * from shuffles that are over: both ids then have the same {@link NodeId#since}. False after a
     * reboot, and if the node did not hear of the application for too long.
     */
    public boolean keeps(String earlierNodeId) {
      return NodeId.parse(nodeId).since().equals(NodeId.parse(earlierNodeId).since());
    }
  }
}
