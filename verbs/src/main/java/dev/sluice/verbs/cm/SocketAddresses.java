// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CStruct;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * Converts IPv4 and IPv6 addresses from and to {@code struct sockaddr_in} and {@code _in6} (ip(7),
 * ipv6(7)). Ports and addresses are in network byte order there. The ids and {@link RdmaAddrInfo}
 * call it, on any thread. No state; the caller's allocator owns the memory.
 */
final class SocketAddresses {
  private static final short AF_UNSPEC = 0;
  static final short AF_INET = 2;
  static final short AF_INET6 = 10;

  private static final CStruct IN = RdmaCmStructs.SOCKADDR_IN;
  private static final CStruct IN6 = RdmaCmStructs.SOCKADDR_IN6;

  private SocketAddresses() {}

  /** Returns the number of a family in C; 0 for null. Another family is EINVAL. */
  static short family(@Nullable StandardProtocolFamily family) throws VerbsException {
    return switch (family) {
      case null -> AF_UNSPEC;
      case INET -> AF_INET;
      case INET6 -> AF_INET6;
      default ->
          throw VerbsException.invalid(
              "use of address family " + family, "it is not INET or INET6");
    };
  }

  /** Returns the C structure of an address. A host name that was not resolved is EINVAL. */
  static MemorySegment write(InetSocketAddress address, SegmentAllocator allocator)
      throws VerbsException {
    InetAddress ip = address.getAddress();
    if (ip == null) {
      throw VerbsException.invalid("use of address " + address, "its host name is not known");
    }
    MemorySegment bytes = MemorySegment.ofArray(ip.getAddress());
    if (ip instanceof Inet6Address six) {
      MemorySegment struct = IN6.allocate(allocator);
      IN6.set(struct, "sin6_family", AF_INET6);
      IN6.set(struct, "sin6_port", swapped(address.getPort()));
      IN6.part(struct, "sin6_addr").copyFrom(bytes);
      IN6.set(struct, "sin6_scope_id", six.getScopeId());
      return struct;
    }
    MemorySegment struct = IN.allocate(allocator);
    IN.set(struct, "sin_family", AF_INET);
    IN.set(struct, "sin_port", swapped(address.getPort()));
    IN.part(struct, "sin_addr").copyFrom(bytes);
    return struct;
  }

  /** Reads a structure as long as the longest kind of address. Returns null if it holds none. */
  static @Nullable InetSocketAddress read(MemorySegment storage) {
    try {
      return switch (storage.get(JAVA_SHORT, 0)) {
        case AF_INET ->
            new InetSocketAddress(
                InetAddress.getByAddress(IN.part(storage, "sin_addr").toArray(JAVA_BYTE)),
                swapped(IN.getInt(storage, "sin_port")));
        case AF_INET6 ->
            new InetSocketAddress(readIn6(storage), swapped(IN6.getInt(storage, "sin6_port")));
        default -> null;
      };
    } catch (UnknownHostException e) {
      throw new AssertionError("4 or 16 bytes are an address", e);
    }
  }

  private static InetAddress readIn6(MemorySegment struct) throws UnknownHostException {
    int scope = IN6.getInt(struct, "sin6_scope_id");
    byte[] ip = IN6.part(struct, "sin6_addr").toArray(JAVA_BYTE);
    return Inet6Address.getByAddress(null, ip, scope == 0 ? -1 : scope);
  }

  /** Converts a port between the byte orders of host and network. */
  private static int swapped(int port) {
    return Short.toUnsignedInt(Short.reverseBytes((short) port));
  }
}
