package dev.sluice.rdma.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CConstant;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvPd;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpInitAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpState;
import dev.sluice.rdma.verbs.ibv.IbvStructs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * A communication identifier, what a socket is to TCP: {@code struct rdma_cm_id}
 * (rdma_create_id(3)). Closing it cancels what is under way, destroys its queue pair, closes what
 * was made in its {@link #context}, and acknowledges the events that nobody closed.
 */
public final class RdmaCmId extends NativeObject {
  private final MemorySegment struct;
  private final List<RdmaCmEvent> unacknowledged = new ArrayList<>();
  private final RdmaEventChannel channel;
  private IbvContext context;
  private IbvQp qp;
  private boolean closing;

  RdmaCmId(RdmaEventChannel channel, MemorySegment pointer) {
    super("cm id", channel, pointer);
    this.channel = channel;
    struct = RdmaCmStructs.CM_ID.at(pointer);
    channel.add(this, pointer);
  }

  public RdmaPortSpace portSpace() {
    return CConstant.of(RdmaPortSpace.class, RdmaCmStructs.CM_ID.getInt(struct, "ps"));
  }

  /** The device's port, from 1; 0 as long as the id is bound to no device. */
  public int portNum() {
    return RdmaCmStructs.CM_ID.getInt(struct, "port_num");
  }

  /** Our address and port (rdma_get_local_addr(3)); null before there is one. */
  public InetSocketAddress localAddress() {
    return address("src_storage");
  }

  /** The peer's address and port (rdma_get_peer_addr(3)); null before there is one. */
  public InetSocketAddress peerAddress() {
    return address("dst_storage");
  }

  private InetSocketAddress address(String member) {
    MemorySegment route = RdmaCmStructs.CM_ID.part(struct, "route");
    MemorySegment addresses = RdmaCmStructs.ROUTE.part(route, "addr");
    return SocketAddresses.read(RdmaCmStructs.ADDR.part(addresses, member));
  }

  /**
   * The device that the id is bound to, as librdmacm opened it. What is created in it belongs to
   * the id.
   *
   * @throws VerbsException EINVAL as long as the id is bound to no device
   */
  public synchronized IbvContext context() throws VerbsException {
    if (context == null) {
      MemorySegment verbs = RdmaCmStructs.CM_ID.getPointer(struct, "verbs");
      if (pointer().address() == 0 || verbs.address() == 0) {
        throw new VerbsException(
            "device of " + this, VerbsException.EINVAL, "it is not bound to a device");
      }
      context = IbvContext.borrowed(verbs);
    }
    return context;
  }

  /**
   * Binds to an address of this machine (rdma_bind_addr(3)).
   *
   * @param address port 0 for any
   */
  public void bind(InetSocketAddress address) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      LibRdmacm.BIND_ADDR.call(pointer(), SocketAddresses.write(address, arena));
    }
  }

  /** Listens for requests, which come as CONNECT_REQUEST events (rdma_listen(3)). */
  public void listen(int backlog) throws VerbsException {
    LibRdmacm.LISTEN.call(pointer(), backlog);
  }

  /**
   * Finds the device and the way to an address (rdma_resolve_addr(3)): ADDR_RESOLVED or ADDR_ERROR.
   *
   * @param source null for whatever the routing table says
   */
  public void resolveAddr(InetSocketAddress source, InetSocketAddress destination, int timeoutMs)
      throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment from =
          source == null ? MemorySegment.NULL : SocketAddresses.write(source, arena);
      MemorySegment to = SocketAddresses.write(destination, arena);
      LibRdmacm.RESOLVE_ADDR.call(pointer(), from, to, timeoutMs);
    }
  }

  /** Finds the route (rdma_resolve_route(3)): ROUTE_RESOLVED or ROUTE_ERROR. */
  public void resolveRoute(int timeoutMs) throws VerbsException {
    LibRdmacm.RESOLVE_ROUTE.call(pointer(), timeoutMs);
  }

  /**
   * Creates the id's own queue pair, whose states librdmacm changes as the connection proceeds
   * (rdma_create_qp(3)).
   *
   * @param pd of the id's device as librdmacm opened it
   */
  public synchronized IbvQp createQp(IbvPd pd, IbvQpInitAttr attr) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = attr.write(arena);
      LibRdmacm.CREATE_QP.call(pointer(), pd.pointer(), init);
      qp =
          pd.adoptQp(
              RdmaCmStructs.CM_ID.getPointer(struct, "qp"),
              IbvQpCap.ofInitAttr(init),
              ignored -> LibRdmacm.DESTROY_QP.invoke(pointer()));
      return qp;
    }
  }

  /**
   * The attributes by which a queue pair that is not the id's own gets into a state
   * (rdma_init_qp_attr(3)).
   */
  public IbvQpAttr initQpAttr(IbvQpState state) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvStructs.QP_ATTR.allocate(arena);
      IbvStructs.QP_ATTR.set(attr, "qp_state", state.value());
      MemorySegment mask = arena.allocate(JAVA_INT);
      LibRdmacm.INIT_QP_ATTR.call(pointer(), attr, mask);
      return IbvQpAttr.read(attr, mask.get(JAVA_INT, 0));
    }
  }

  /**
   * Asks the peer for a connection, or for its datagram service (rdma_connect(3)): ESTABLISHED, or
   * CONNECT_RESPONSE without a queue pair of the id's own; else REJECTED, UNREACHABLE or
   * CONNECT_ERROR.
   *
   * @throws VerbsException EINVAL for more than 56 bytes of private data, 180 for datagrams
   */
  public void connect(RdmaConnParam param) throws VerbsException {
    checkPrivateData("rdma_connect", param.privateData(), 56, 180);
    try (Arena arena = Arena.ofConfined()) {
      LibRdmacm.CONNECT.call(pointer(), param.write(arena, "rdma_connect"));
    }
  }

  /**
   * Accepts a CONNECT_REQUEST, on its new id (rdma_accept(3)): ESTABLISHED, later.
   *
   * @throws VerbsException EINVAL for more than 196 bytes of private data, 136 for datagrams
   */
  public void accept(RdmaConnParam param) throws VerbsException {
    checkPrivateData("rdma_accept", param.privateData(), 196, 136);
    try (Arena arena = Arena.ofConfined()) {
      LibRdmacm.ACCEPT.call(pointer(), param.write(arena, "rdma_accept"));
    }
  }

  /**
   * Refuses a CONNECT_REQUEST, on its new id (rdma_reject(3)).
   *
   * @throws VerbsException EINVAL for more than 148 bytes of private data, 136 for datagrams
   */
  public void reject(byte[] privateData) throws VerbsException {
    checkPrivateData("rdma_reject", privateData, 148, 136);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = RdmaConnParam.bytes(privateData, arena);
      LibRdmacm.REJECT.call(pointer(), bytes, (byte) privateData.length);
    }
  }

  private void checkPrivateData(String operation, byte[] data, int connected, int datagram)
      throws VerbsException {
    RdmaPortSpace portSpace = portSpace();
    boolean datagrams = portSpace == RdmaPortSpace.UDP || portSpace == RdmaPortSpace.IPOIB;
    int limit = datagrams ? datagram : connected;
    if (data.length > limit) {
      throw new VerbsException(
          operation + "(" + this + ")",
          VerbsException.EINVAL,
          data.length + " bytes of private data, of which " + portSpace + " takes " + limit);
    }
  }

  /** Completes a connection without a queue pair of the id's own (rdma_establish(3)). */
  public void establish() throws VerbsException {
    LibRdmacm.ESTABLISH.call(pointer());
  }

  /** Ends the connection and moves its queue pair to ERROR (rdma_disconnect(3)). */
  public void disconnect() throws VerbsException {
    LibRdmacm.DISCONNECT.call(pointer());
  }

  /** Type of service, of which RoCE v2 takes DSCP (rdma_set_option(3)); before resolving. */
  public void setTypeOfService(int tos) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      setOption(RdmaOption.ID_TOS, arena.allocateFrom(JAVA_BYTE, (byte) tos));
    }
  }

  /** Whether the address may be in use still, as by SO_REUSEADDR; before binding. */
  public void setReuseAddress(boolean reuse) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      setOption(RdmaOption.ID_REUSEADDR, arena.allocateFrom(JAVA_INT, reuse ? 1 : 0));
    }
  }

  private void setOption(int name, MemorySegment value) throws VerbsException {
    LibRdmacm.SET_OPTION.call(pointer(), RdmaOption.ID, name, value, value.byteSize());
  }

  /**
   * Notes an event that was taken.
   *
   * @return false when this is being closed, which waits for the event's acknowledgement
   */
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

  private void acknowledgeEvents() throws VerbsException {
    List<RdmaCmEvent> left;
    synchronized (unacknowledged) {
      left = List.copyOf(unacknowledged);
    }
    for (RdmaCmEvent event : left) {
      event.close();
    }
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    synchronized (unacknowledged) {
      closing = true;
    }
    acknowledgeEvents();
    if (qp != null) {
      qp.close();
    }
    if (context != null) {
      context.close();
    }
    LibRdmacm.DESTROY_ID.call(pointer);
    channel.remove(this, pointer);
  }
}
