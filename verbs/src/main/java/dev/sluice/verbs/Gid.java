// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * A global identifier: {@code union ibv_gid}. On RoCE v2 it is an IP address; IPv4 addresses have
 * the mapped form {@code ::ffff:a.b.c.d}. Both numbers are in the byte order of Java; {@code
 * IbvGidEntry} converts from and to the network byte order of C. The bindings, both providers and
 * messages between processes carry it, these with its components in their order. Immutable.
 */
public record Gid(long subnetPrefix, long interfaceId) {
  private static final long IPV4_MAPPED = 0x0000_FFFF_0000_0000L;

  /** Returns the GID that RoCE v2 forms from an IP address. */
  public static Gid of(InetAddress address) {
    byte[] bytes = address.getAddress();
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return bytes.length == 4
        ? new Gid(0, IPV4_MAPPED | Integer.toUnsignedLong(buffer.getInt()))
        : new Gid(buffer.getLong(), buffer.getLong());
  }

  /** Returns the IP address that this GID stands for on RoCE v2. */
  public InetAddress toInetAddress() {
    byte[] bytes =
        ByteBuffer.allocate(2 * Long.BYTES).putLong(subnetPrefix).putLong(interfaceId).array();
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("16 bytes are an IPv6 address", e);
    }
  }

  /** True if the GID is an IPv4 address. */
  public boolean isIpv4() {
    return toInetAddress() instanceof Inet4Address;
  }

  @Override
  public String toString() {
    return toInetAddress().getHostAddress();
  }
}
