// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CFunction;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvEce;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvStructs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A communication identifier, the counterpart of a TCP socket: {@code struct rdma_cm_id}
 * (rdma_create_id(3)). Closing it cancels pending operations, acknowledges unclosed events, leaves
 * its multicast groups, destroys its queue pair, and closes all objects of its {@link #context()}.
 *
 * <p>An id of a channel is asynchronous: a call starts an operation, and an event reports the
 * result. An id without a channel is synchronous: a call waits for that event, as long as librdmacm
 * and the kernel do, and throws if the event is a failure. {@link #migrate} changes the kind.
 *
 * <p>Its channel closes an asynchronous id, its creator a synchronous one. One thread at a time
 * calls it, except that another may take and close its events.
 */
public final class RdmaCmId extends RdmaCmIdMulticast {
  /** Services behind an id's port numbers (rdma_create_id(3)). */
  public enum PortSpace implements CConstant {
    /** Datagrams that interoperate with IP over InfiniBand. */
    IPOIB(0x0002),
    /** Reliable connections. */
    TCP(0x0106),
    /** Unreliable datagrams. */
    UDP(0x0111),
    /** Any InfiniBand service. */
    IB(0x013F);

    private final int value;

    PortSpace(int value) {
      this.value = value;
    }

    @Override
    public int value() {
      return value;
    }
  }

  /** Levels and names of options (rdma_set_option(3)). */
  public interface Option {
    /** Levels. */
    int ID = 0;

    int IB = 1;

    int ID_TOS = 0;
    int ID_REUSEADDR = 1;
    int ID_AFONLY = 2;
    int ID_ACK_TIMEOUT = 3;
    int IB_PATH = 1;
  }

  /** Membership of a multicast group (rdma_join_multicast_ex(3)). */
  public interface JoinFlags {
    int FULLMEMBER = 0;
    int SENDONLY_FULLMEMBER = 1;
  }

  private @Nullable RdmaEventChannel channel;
  private @Nullable IbvPd requestPd;
  private @Nullable IbvQpInitAttr requestAttr;

  RdmaCmId(RdmaEventChannel channel, MemorySegment pointer) {
    super(channel, pointer, LibRdmacm.DESTROY_ID::invoke);
    this.channel = channel;
    channel.add(this, pointer);
  }

  /** Creates a synchronous id. The listening id received its request; null for none. */
  private RdmaCmId(@Nullable RdmaCmId listening, MemorySegment pointer, Destroyer destroyer) {
    super(listening, pointer, destroyer);
  }

  /**
   * Creates a synchronous id (rdma_create_id(3) without a channel); the caller closes it.
   *
   * @throws ProviderUnavailableException when librdmacm cannot be loaded
   */
  public static RdmaCmId create(PortSpace portSpace)
      throws VerbsException, ProviderUnavailableException {
    LibRdmacm.Library.RDMACM.require();
    MemorySegment id = HEAP.allocate(ADDRESS);
    LibRdmacm.CREATE_ID.call(MemorySegment.NULL, id, MemorySegment.NULL, portSpace.value());
    return new RdmaCmId(null, id.get(ADDRESS, 0), LibRdmacm.DESTROY_ID::invoke);
  }

  /**
   * Creates a synchronous id for an address (rdma_create_ep(3)); the caller closes it. A passive id
   * is bound to the address. For an active id, address and route are resolved within 4 seconds.
   *
   * @param address the first entry of the list is used
   * @param pd null for the device's default domain
   * @param attr attributes for {@link #createQp}, applied to the active id itself, or to each id
   *     that {@link #getRequest} returns; null for no queue pair
   */
  public static RdmaCmId createEp(
      RdmaAddrInfo address, @Nullable IbvPd pd, @Nullable IbvQpInitAttr attr)
      throws VerbsException {
    MemorySegment result = HEAP.allocate(ADDRESS);
    LibRdmacm.CREATE_EP.call(result, address.pointer(), MemorySegment.NULL, MemorySegment.NULL);
    RdmaCmId id = new RdmaCmId(null, result.get(ADDRESS, 0), LibRdmacm.DESTROY_EP::invoke);
    if ((address.entries().getFirst().flags() & RdmaAddrInfo.Flags.PASSIVE) != 0) {
      id.requestPd = pd;
      id.requestAttr = attr;
    } else {
      id.createRequestedQp(pd, attr);
    }
    return id;
  }

  private void createRequestedQp(@Nullable IbvPd domain, @Nullable IbvQpInitAttr attr)
      throws VerbsException {
    if (attr != null) {
      try {
        createQp(domain, attr);
      } catch (VerbsException e) {
        close();
        throw e;
      }
    }
  }

  public CValue<PortSpace> portSpace() {
    return new CValue<>(PortSpace.class, RdmaCmStructs.CM_ID.getInt(struct(), "ps"));
  }

  /** The device's port, from 1; 0 while the id is bound to no device. */
  public int portNum() {
    return RdmaCmStructs.CM_ID.getInt(struct(), "port_num");
  }

  /** Local address and port (rdma_get_local_addr(3)); null before there is one. */
  public @Nullable InetSocketAddress localAddress() {
    return address("src_storage");
  }

  /** The peer's address and port (rdma_get_peer_addr(3)); null before there is one. */
  public @Nullable InetSocketAddress peerAddress() {
    return address("dst_storage");
  }

  private @Nullable InetSocketAddress address(String member) {
    return SocketAddresses.read(RdmaCmStructs.CM_ID.part(struct(), "route.addr." + member));
  }

  /** Last event of a synchronous id, with the peer's private data; empty if there was none. */
  public Optional<RdmaCmEvent> event() throws VerbsException {
    pointer();
    MemorySegment event = RdmaCmStructs.CM_ID.getPointer(struct(), "event");
    return event.address() == 0
        ? Optional.empty()
        : Optional.of(new RdmaCmEvent(event, this, this, true));
  }

  /** Binds to an address of this machine; port 0 selects any free port (rdma_bind_addr(3)). */
  public void bind(InetSocketAddress address) throws VerbsException {
    LibRdmacm.BIND_ADDR.call(pointer(), SocketAddresses.write(address, HEAP));
  }

  /** Listens for requests, which arrive as CONNECT_REQUEST events (rdma_listen(3)). */
  public void listen(int backlog) throws VerbsException {
    LibRdmacm.LISTEN.call(pointer(), backlog);
  }

  /**
   * Waits for a connection request (rdma_get_request(3)). The caller then calls {@link #accept} or
   * {@link #reject} on the result.
   *
   * @param timeoutMs 0 returns at once
   * @return a new synchronous id, which the caller closes; empty after the timeout. Until the id is
   *     accepted, closing this id closes it, too, because C waits for it
   * @throws VerbsException EINVAL on an asynchronous id
   */
  public Optional<RdmaCmId> getRequest(long timeoutMs) throws VerbsException {
    MemorySegment events = RdmaCmStructs.CM_ID.getPointer(struct(), "channel");
    int fd = RdmaCmStructs.EVENT_CHANNEL.getInt(RdmaCmStructs.EVENT_CHANNEL.at(events), "fd");
    if (channel == null && FileDescriptors.awaitReadable(timeoutMs, fd) == 0) {
      return Optional.empty();
    }
    MemorySegment result = HEAP.allocate(ADDRESS);
    LibRdmacm.GET_REQUEST.call(pointer(), result);
    RdmaCmId id = adopt(new RdmaCmId(this, result.get(ADDRESS, 0), LibRdmacm.DESTROY_EP::invoke));
    id.createRequestedQp(requestPd, requestAttr);
    return Optional.of(id);
  }

  /**
   * Finds the device for an address (rdma_resolve_addr(3)). Leads to ADDR_RESOLVED or ADDR_ERROR.
   *
   * @param source null to let the routing table choose
   */
  public void resolveAddr(
      @Nullable InetSocketAddress source, InetSocketAddress destination, int timeoutMs)
      throws VerbsException {
    MemorySegment from = source == null ? MemorySegment.NULL : SocketAddresses.write(source, HEAP);
    MemorySegment to = SocketAddresses.write(destination, HEAP);
    LibRdmacm.RESOLVE_ADDR.call(pointer(), from, to, timeoutMs);
  }

  /**
   * Resolves a name (rdma_resolve_addrinfo(3)). Leads to ADDRINFO_RESOLVED, after which {@link
   * #queryAddrInfo} has the result, or to ADDRINFO_ERROR.
   *
   * @param node host name or address; null if the flag SA is set
   * @param service name or port number; for the flag SA, name or id of a service of InfiniBand
   * @param hints with the flag SA the id must be bound to a port of InfiniBand
   * @throws VerbsException ENOSYS with rdma-core before 60; a number below zero is an error of
   *     getaddrinfo(3), such as that of an unknown name, and -1 an error that librdmacm drops
   */
  public void resolveAddrInfo(@Nullable String node, String service, RdmaAddrInfo.Hints hints)
      throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      LibRdmacm.RESOLVE_ADDRINFO.call(
          pointer(),
          RdmaAddrInfo.string(node, arena),
          RdmaAddrInfo.string(service, arena),
          hints.write(arena));
    } catch (VerbsException e) {
      if (e.errno() >= 0) {
        throw e;
      }
      String reason = e.errno() == -1 ? "its error is not known" : RdmaAddrInfo.text(e.errno());
      throw new VerbsException(
          "rdma_resolve_addrinfo(node=" + node + ", service=" + service + ")", e.errno(), reason);
    }
  }

  /**
   * Returns the result of {@link #resolveAddrInfo} (rdma_query_addrinfo(3)); the caller closes it.
   */
  public RdmaAddrInfo queryAddrInfo() throws VerbsException {
    MemorySegment result = HEAP.allocate(ADDRESS);
    LibRdmacm.QUERY_ADDRINFO.call(pointer(), result);
    return new RdmaAddrInfo(result.get(ADDRESS, 0));
  }

  /**
   * Adds a USER event to the id's channel (rdma_write_cm_event(3)), for example to wake the thread
   * that waits for events.
   *
   * @param status {@link RdmaCmEvent#status} of the event
   * @param argument {@link RdmaCmEvent#userArgument} of the event
   * @throws VerbsException ENOSYS with rdma-core before 60; EINVAL if the kernel lacks the command,
   *     and for a synchronous id, whose calls would take the event for theirs
   */
  public void writeCmEvent(int status, long argument) throws VerbsException {
    if (channel == null) {
      throw failure("rdma_write_cm_event", VerbsException.EINVAL, "the id is synchronous");
    }
    LibRdmacm.WRITE_CM_EVENT.call(pointer(), RdmaCmEvent.Type.USER.value(), status, argument);
  }

  /** Finds the route (rdma_resolve_route(3)). Leads to ROUTE_RESOLVED or ROUTE_ERROR. */
  public void resolveRoute(int timeoutMs) throws VerbsException {
    LibRdmacm.RESOLVE_ROUTE.call(pointer(), timeoutMs);
  }

  /**
   * Asks the peer for a connection, or for its datagram service (rdma_connect(3)). Leads to
   * ESTABLISHED, or to CONNECT_RESPONSE if the id has no queue pair of its own; on failure to
   * REJECTED, UNREACHABLE or CONNECT_ERROR.
   *
   * @throws VerbsException EINVAL for more than 56 bytes of private data, 180 for datagrams
   */
  public void connect(RdmaConnParam param) throws VerbsException {
    pass(param, LibRdmacm.CONNECT, "rdma_connect", 56, 180);
  }

  /**
   * Accepts a CONNECT_REQUEST, on its new id (rdma_accept(3)). Leads to ESTABLISHED.
   *
   * @throws VerbsException EINVAL for more than 196 bytes of private data, 136 for datagrams
   */
  public void accept(RdmaConnParam param) throws VerbsException {
    pass(param, LibRdmacm.ACCEPT, "rdma_accept", 196, 136);
    if (channel == null) {
      moveTo(null); // request is acknowledged: the listening id may close without this id
    }
  }

  private void pass(
      RdmaConnParam param, CFunction function, String name, int connected, int datagram)
      throws VerbsException {
    checkPrivateData(name, param.privateData(), connected, datagram);
    try (Arena arena = Arena.ofConfined()) {
      function.call(pointer(), param.write(arena, name));
    }
  }

  /**
   * Refuses a CONNECT_REQUEST, on its new id (rdma_reject(3)).
   *
   * @throws VerbsException EINVAL for more than 148 bytes of private data, 136 for datagrams
   */
  public void reject(byte[] privateData) throws VerbsException {
    reject(LibRdmacm.REJECT, "rdma_reject", privateData);
  }

  /** As {@link #reject}, with the reason that the peer's {@link IbvEce} is not supported. */
  public void rejectEce(byte[] privateData) throws VerbsException {
    reject(LibRdmacm.REJECT_ECE, "rdma_reject_ece", privateData);
  }

  private void reject(CFunction function, String name, byte[] privateData) throws VerbsException {
    checkPrivateData(name, privateData, 148, 136);
    MemorySegment bytes = RdmaConnParam.bytes(privateData, HEAP);
    function.call(pointer(), bytes, (byte) privateData.length);
  }

  /**
   * Sets the options to send with the request or the acceptance (rdma_set_local_ece(3)).
   *
   * @throws VerbsException EINVAL if the id has a queue pair of its own, whose driver decides
   */
  public void setLocalEce(IbvEce ece) throws VerbsException {
    LibRdmacm.SET_LOCAL_ECE.call(pointer(), ece.write(HEAP));
  }

  /** Returns the peer's options (rdma_get_remote_ece(3)); throws as {@link #setLocalEce}. */
  public IbvEce remoteEce() throws VerbsException {
    MemorySegment struct = IbvStructs.ECE.allocate(HEAP);
    LibRdmacm.GET_REMOTE_ECE.call(pointer(), struct);
    return IbvEce.read(struct);
  }

  private void checkPrivateData(String operation, byte[] data, int connected, int datagram)
      throws VerbsException {
    // The port space alone does not tell: IB has connections and datagrams.
    boolean datagrams = RdmaCmStructs.CM_ID.getInt(struct(), "qp_type") == IbvQp.Type.UD.value();
    int limit = datagrams ? datagram : connected;
    if (data.length > limit) {
      throw failure(
          operation,
          VerbsException.EINVAL,
          data.length + " bytes of private data; " + portSpace() + " takes at most " + limit);
    }
  }

  /** Completes a connection if the id has no queue pair of its own (rdma_establish(3)). */
  public void establish() throws VerbsException {
    LibRdmacm.ESTABLISH.call(pointer());
  }

  /** Ends the connection and moves its queue pair to ERROR (rdma_disconnect(3)). */
  public void disconnect() throws VerbsException {
    LibRdmacm.DISCONNECT.call(pointer());
  }

  /** Notifies the id of an asynchronous event of its queue pair, COMM_EST (rdma_notify(3)). */
  public void notifyEvent(IbvAsyncEvent.Type event) throws VerbsException {
    LibRdmacm.NOTIFY.call(pointer(), event.value());
  }

  /**
   * Moves the id to another channel, which owns it from then on (rdma_migrate_id(3)). Acknowledges
   * unclosed events first, because migrating waits for acknowledgements.
   *
   * @param target null makes the id synchronous; then the caller closes the id
   */
  public void migrate(@Nullable RdmaEventChannel target) throws VerbsException {
    acknowledgeEvents();
    if (target == null) {
      LibRdmacm.MIGRATE_ID.call(pointer(), MemorySegment.NULL);
    } else {
      target.add(this, pointer()); // before the first event can arrive
      try {
        LibRdmacm.MIGRATE_ID.call(pointer(), target.pointer());
      } catch (VerbsException e) {
        target.remove(this, pointer());
        throw e;
      }
    }
    if (channel != null) {
      channel.remove(this, pointer());
    }
    channel = target;
    moveTo(target);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    setClosing(true);
    try {
      leaveAllGroups();
      closeObjects();
      super.destroy(pointer);
    } catch (VerbsException | RuntimeException | Error e) {
      setClosing(false);
      throw e;
    }
    if (channel != null) {
      channel.remove(this, pointer);
    }
  }
}
