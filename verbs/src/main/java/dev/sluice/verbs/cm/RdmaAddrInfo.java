// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import dev.sluice.verbs.ffi.NativeObject;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A resolved name: a list of {@code struct rdma_addrinfo} (rdma_getaddrinfo(3)). Any thread. The
 * caller of {@link #get} or {@link RdmaCmId#queryAddrInfo} closes it, after the last {@link
 * RdmaCmId#createEp} with it; the entries are copies and stay readable.
 */
public final class RdmaAddrInfo extends NativeObject {
  /** Flags of {@link Hints}. Bits, to be combined by {@code |}. */
  public interface Flags {
    int PASSIVE = 1;
    int NUMERICHOST = 1 << 1;
    int NOROUTE = 1 << 2;
    int FAMILY = 1 << 3;

    /** Asks the subnet administrator, since rdma-core 60; names are services of InfiniBand. */
    int SA = 1 << 4;

    /** Asks the name service, as without this flag; excludes SA. */
    int DNS = 1 << 5;
  }

  /** Returns an error of getaddrinfo(3) in words. */
  static String text(int error) throws VerbsException {
    return GAI_STRERROR.callForString(error);
  }

  private static final NativeFunction GAI_STRERROR =
      NativeFunction.exported(NativeLibrary.LIBC, "ptr gai_strerror(int errcode)", Failure.NONE);

  private final List<Entry> entries;

  /**
   * Criteria for addresses.
   *
   * @param flags of {@link Flags}
   * @param family INET or INET6, for which the flag FAMILY is set; null for any
   * @param source local address of the active side, whose device {@link RdmaCmId#createEp} uses;
   *     port 0 is any port. Null to let the routing table choose
   */
  public record Hints(
      int flags,
      RdmaCmId.PortSpace portSpace,
      IbvQp.Type qpType,
      @Nullable StandardProtocolFamily family,
      @Nullable InetSocketAddress source) {

    /** Sets neither family nor source. */
    public Hints(int flags, RdmaCmId.PortSpace portSpace, IbvQp.Type qpType) {
      this(flags, portSpace, qpType, null, null);
    }

    MemorySegment write(Arena arena) throws VerbsException {
      MemorySegment struct = RdmaCmStructs.ADDRINFO.allocate(arena);
      RdmaCmStructs.ADDRINFO.set(struct, "ai_flags", family == null ? flags : flags | Flags.FAMILY);
      RdmaCmStructs.ADDRINFO.set(struct, "ai_family", SocketAddresses.family(family));
      RdmaCmStructs.ADDRINFO.set(struct, "ai_port_space", portSpace.value());
      RdmaCmStructs.ADDRINFO.set(struct, "ai_qp_type", qpType.value());
      if (source != null) {
        MemorySegment address = SocketAddresses.write(source, arena);
        RdmaCmStructs.ADDRINFO.set(struct, "ai_src_addr", address);
        RdmaCmStructs.ADDRINFO.set(struct, "ai_src_len", address.byteSize());
      }
      return struct;
    }
  }

  /**
   * Entry of the list. The source may be null, and the destination is null on the passive side.
   * Both are null for an address that is neither IPv4 nor IPv6, such as those of the flag SA.
   */
  public record Entry(
      int flags,
      CValue<RdmaCmId.PortSpace> portSpace,
      CValue<IbvQp.Type> qpType,
      @Nullable InetSocketAddress source,
      @Nullable InetSocketAddress destination) {

    static @Nullable Entry read(MemorySegment struct) {
      return new Entry(
          RdmaCmStructs.ADDRINFO.getInt(struct, "ai_flags"),
          new CValue<>(
              RdmaCmId.PortSpace.class, RdmaCmStructs.ADDRINFO.getInt(struct, "ai_port_space")),
          new CValue<>(IbvQp.Type.class, RdmaCmStructs.ADDRINFO.getInt(struct, "ai_qp_type")),
          address(struct, "ai_src_addr", "ai_src_len"),
          address(struct, "ai_dst_addr", "ai_dst_len"));
    }

    @SuppressWarnings("restricted")
    private static @Nullable InetSocketAddress address(
        MemorySegment struct, String member, String length) {
      int bytes = RdmaCmStructs.ADDRINFO.getInt(struct, length);
      MemorySegment address = RdmaCmStructs.ADDRINFO.getPointer(struct, member);
      return bytes == 0 ? null : SocketAddresses.read(address.reinterpret(bytes));
    }
  }

  RdmaAddrInfo(MemorySegment list) {
    super("address information", null, list, LibRdmacm.FREEADDRINFO::invoke, 0);
    List<Entry> read = new ArrayList<>();
    for (MemorySegment next = list; next.address() != 0; ) {
      MemorySegment struct = RdmaCmStructs.ADDRINFO.at(next);
      read.add(Entry.read(struct));
      next = RdmaCmStructs.ADDRINFO.getPointer(struct, "ai_next");
    }
    entries = List.copyOf(read);
  }

  /**
   * Resolves a name (rdma_getaddrinfo(3)); the caller closes the result.
   *
   * @param node host name or address; null for any address on the passive side
   * @param service name or port number; null for none
   * @throws UnknownHostException when the name cannot be resolved
   * @throws ProviderUnavailableException when librdmacm cannot be loaded
   */
  public static RdmaAddrInfo get(@Nullable String node, @Nullable String service, Hints hints)
      throws IOException {
    LibRdmacm.Library.RDMACM.require();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ADDRESS);
      int error =
          LibRdmacm.GETADDRINFO.call(
              string(node, arena), string(service, arena), hints.write(arena), result);
      if (error != 0) {
        String text = text(error);
        throw new UnknownHostException(
            "rdma_getaddrinfo(node=" + node + ", service=" + service + "): " + text);
      }
      return new RdmaAddrInfo(result.get(ADDRESS, 0));
    }
  }

  static MemorySegment string(@Nullable String text, Arena arena) {
    return text == null ? MemorySegment.NULL : CString.allocate(arena, text);
  }

  public List<Entry> entries() {
    return entries;
  }
}
