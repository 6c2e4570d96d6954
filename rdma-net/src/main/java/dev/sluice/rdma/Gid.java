package dev.sluice.rdma;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * A global identifier: {@code union ibv_gid}. On RoCE v2 it is an IP address, IPv4 ones in the
 * mapped form {@code ::ffff:a.b.c.d}.
 */
public record Gid(long subnetPrefix, long interfaceId) {
  private static final long IPV4_MAPPED = 0x0000_FFFF_0000_0000L;

  /** The GID of an IP address, as RoCE v2 forms it. */
  public static Gid of(InetAddress address) {
    byte[] bytes = address.getAddress();
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return bytes.length == 4
        ? new Gid(0, IPV4_MAPPED | Integer.toUnsignedLong(buffer.getInt()))
        : new Gid(buffer.getLong(), buffer.getLong());
  }

  /** The IP address that this GID stands for on RoCE v2. */
  public InetAddress toInetAddress() {
    byte[] bytes =
        ByteBuffer.allocate(2 * Long.BYTES).putLong(subnetPrefix).putLong(interfaceId).array();
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("16 bytes are an IPv6 address", e);
    }
  }

  /** Whether that is an IPv4 address. */
  public boolean isIpv4() {
    return toInetAddress() instanceof Inet4Address;
  }

  @Override
  public String toString() {
    return toInetAddress().getHostAddress();
  }
}
