// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of an id that holds options, multicast groups, and events not yet acknowledged
 * (rdma_join_multicast(3), rdma_set_option(3)). Leaving a group waits for these events. The id's
 * user calls it on one thread at a time; the thread that takes events adds and removes them.
 */
abstract sealed class RdmaCmIdMulticast extends RdmaCmIdObjects permits RdmaCmId {
  /** Both members are set: {@code RDMA_CM_JOIN_MC_ATTR_ADDRESS} and {@code JOIN_FLAGS}. */
  private static final int JOIN_ADDRESS_AND_FLAGS = 3;

  private final List<RdmaCmEvent> unacknowledged = new ArrayList<>();
  private final Set<InetSocketAddress> groups = new LinkedHashSet<>();
  private boolean closing;

  RdmaCmIdMulticast(@Nullable NativeObject parent, MemorySegment pointer, Destroyer destroyer) {
    super(parent, pointer, destroyer);
  }

  /** Joins a group (rdma_join_multicast(3)). Leads to MULTICAST_JOIN or MULTICAST_ERROR. */
  public void joinMulticast(InetSocketAddress group) throws VerbsException {
    MemorySegment address = SocketAddresses.write(group, HEAP);
    LibRdmacm.JOIN_MULTICAST.call(pointer(), address, MemorySegment.NULL);
    groups.add(group);
  }

  /**
   * Joins with flags, as {@link #joinMulticast(InetSocketAddress)} (rdma_join_multicast_ex(3)).
   *
   * @param joinFlags one of {@link RdmaCmId.JoinFlags}
   */
  public void joinMulticast(InetSocketAddress group, int joinFlags) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = RdmaCmStructs.JOIN_MC_ATTR_EX.allocate(arena);
      RdmaCmStructs.JOIN_MC_ATTR_EX.set(attr, "comp_mask", JOIN_ADDRESS_AND_FLAGS);
      RdmaCmStructs.JOIN_MC_ATTR_EX.set(attr, "join_flags", joinFlags);
      RdmaCmStructs.JOIN_MC_ATTR_EX.set(attr, "addr", SocketAddresses.write(group, arena));
      LibRdmacm.JOIN_MULTICAST_EX.call(pointer(), attr, MemorySegment.NULL);
      groups.add(group);
    }
  }

  /** Acknowledges unclosed events, then leaves a group (rdma_leave_multicast(3)). */
  public void leaveMulticast(InetSocketAddress group) throws VerbsException {
    acknowledgeEvents();
    groups.remove(group); // librdmacm forgets the group even if leaving fails
    LibRdmacm.LEAVE_MULTICAST.call(pointer(), SocketAddresses.write(group, HEAP));
  }

  /** Sets the type of service, before resolving (rdma_set_option(3)). RoCE v2 uses its DSCP. */
  public void setTypeOfService(int tos) throws VerbsException {
    setOption(RdmaCmId.Option.ID, RdmaCmId.Option.ID_TOS, (byte) tos);
  }

  /** Allows an address that is still in use, as SO_REUSEADDR does; before binding. */
  public void setReuseAddress(boolean reuse) throws VerbsException {
    setOption(RdmaCmId.Option.ID, RdmaCmId.Option.ID_REUSEADDR, intBytes(reuse));
  }

  /** Restricts an IPv6 wildcard to IPv6, as IPV6_V6ONLY does; before binding. */
  public void setAddressFamilyOnly(boolean only) throws VerbsException {
    setOption(RdmaCmId.Option.ID, RdmaCmId.Option.ID_AFONLY, intBytes(only));
  }

  /**
   * Sets the queue pair's acknowledgement timeout, which replaces the path's; before connecting.
   *
   * @param timeout 4.096 us x 2^timeout, 0 to 31
   */
  public void setAckTimeout(int timeout) throws VerbsException {
    setOption(RdmaCmId.Option.ID, RdmaCmId.Option.ID_ACK_TIMEOUT, (byte) timeout);
  }

  /**
   * Sets the route of an id whose address is resolved. Replaces {@link RdmaCmId#resolveRoute} and
   * leads to ROUTE_RESOLVED.
   *
   * @param paths an array of {@code struct ibv_path_data} (infiniband/sa.h)
   */
  public void setIbPath(byte[] paths) throws VerbsException {
    setOption(RdmaCmId.Option.IB, RdmaCmId.Option.IB_PATH, paths);
  }

  private static byte[] intBytes(boolean value) {
    return ByteBuffer.allocate(Integer.BYTES)
        .order(ByteOrder.nativeOrder())
        .putInt(value ? 1 : 0)
        .array();
  }

  private void setOption(int level, int name, byte... value) throws VerbsException {
    MemorySegment bytes = RdmaConnParam.bytes(value, HEAP);
    LibRdmacm.SET_OPTION.call(pointer(), level, name, bytes, (long) value.length);
  }

  /** Records an event. Returns false if the id is closing and waits for its acknowledgement. */
  boolean received(RdmaCmEvent event) {
    synchronized (unacknowledged) {
      return !closing && unacknowledged.add(event);
    }
  }

  void acknowledged(RdmaCmEvent event) {
    synchronized (unacknowledged) {
      unacknowledged.remove(event);
    }
  }

  void acknowledgeEvents() throws VerbsException {
    List<RdmaCmEvent> left;
    synchronized (unacknowledged) {
      left = List.copyOf(unacknowledged);
    }
    for (RdmaCmEvent event : left) {
      event.close();
    }
  }

  /** Stops taking events, or resumes if closing failed. */
  void setClosing(boolean closing) {
    synchronized (unacknowledged) {
      this.closing = closing;
    }
  }

  /** Leaves all groups. A group that cannot be left, as without a device, ends with the id. */
  @Override
  void leaveAllGroups() throws VerbsException {
    acknowledgeEvents();
    for (InetSocketAddress group : List.copyOf(groups)) {
      try {
        leaveMulticast(group);
      } catch (VerbsException e) {
        groups.remove(group);
      }
    }
  }
}
