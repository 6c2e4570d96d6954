// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import static java.util.Objects.requireNonNull;

import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.cm.RdmaUdParam;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The multicast example (mckey). Each member joins the group through rdma_cm. A sender posts
 * datagrams, and each other member receives them. Other members may be mckey of rdmacm-utils.
 * {@link #main} or {@code bin/verbs} makes one, and uses it on one thread.
 *
 * <p>Arguments: {@code ADDRESS GROUP [MESSAGE]}; the address must belong to an RDMA device. With a
 * message, the program is the sender.
 */
public final class Multicast implements AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final RdmaEventChannel events = RdmaEventChannel.create();
  private final CmEndpoint endpoint;
  private final RdmaUdParam group;
  private final IbvAh ah;

  /**
   * Joins the group.
   *
   * @param device address of the device; null to let the routing table choose
   * @param joinFlags of {@link RdmaCmId.JoinFlags}
   * @param messages maximum number of messages in flight in either direction
   * @param size bytes of a message
   */
  public Multicast(
      @Nullable InetAddress device,
      InetAddress groupAddress,
      int joinFlags,
      int messages,
      int size,
      Deadline deadline)
      throws IOException {
    InetSocketAddress from = device == null ? null : new InetSocketAddress(device, 0);
    InetSocketAddress to = new InetSocketAddress(groupAddress, 0);
    try {
      RdmaCmId id = events.createId(RdmaCmId.PortSpace.UDP);
      id.resolveAddr(from, to, deadline.leftMs("resolving the address " + groupAddress));
      CmEndpoint.await(events, RdmaCmEvent.Type.ADDR_RESOLVED, deadline); // the id has a device now

      endpoint = new CmEndpoint(id, IbvQp.Type.UD, messages, size, null, arena, deadline);
      endpoint.postReceives(messages); // before another member can send

      id.joinMulticast(to, joinFlags);
      group = CmEndpoint.await(events, RdmaCmEvent.Type.MULTICAST_JOIN, deadline).udParam();
      ah = id.pd().createAh(requireNonNull(group.ahAttr()));
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  public static void main(String[] arguments) throws IOException {
    InetAddress device = InetAddress.getByName(arguments[0]);
    InetAddress group = InetAddress.getByName(arguments[1]);
    Deadline deadline = Deadline.in(60);
    try (Multicast member =
        new Multicast(device, group, RdmaCmId.JoinFlags.FULLMEMBER, 1, 100, deadline)) {
      if (arguments.length > 2) {
        member.send(arguments[2]);
      } else {
        System.out.println("The group hears: " + member.receive());
      }
    }
  }

  /** Returns the joined group, with its GID. */
  public RdmaUdParam group() {
    return group;
  }

  public void send(String message) throws IOException {
    endpoint.text(message);
    endpoint.send(ah, group);
  }

  /** Waits for a message; zeros may follow its text. */
  public String receive() throws IOException {
    return endpoint.receive();
  }

  /** Leaves the group, then closes the id and all objects of its device. */
  @Override
  public void close() throws IOException {
    events.close();
    arena.close();
  }
}
