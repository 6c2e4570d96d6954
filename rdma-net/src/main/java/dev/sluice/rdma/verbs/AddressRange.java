// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import java.math.BigInteger;
import java.net.InetAddress;

/**
 * A range of IP addresses in CIDR notation, such as {@code 10.1.0.0/16}.
 *
 * @param network an address of the range
 * @param prefixLength leading bits that the addresses of the range have in common
 */
public record AddressRange(InetAddress network, int prefixLength) {

  /**
   * @throws IllegalArgumentException if the text is not ADDRESS/BITS
   */
  public static AddressRange parse(String text) {
    int slash = text.indexOf('/');
    if (slash < 0) {
      throw new IllegalArgumentException("\"" + text + "\" is not ADDRESS/BITS");
    }
    InetAddress network = InetAddress.ofLiteral(text.substring(0, slash));
    int prefixLength = Integer.parseInt(text.substring(slash + 1));
    if (prefixLength < 0 || prefixLength > bits(network)) {
      throw new IllegalArgumentException("the prefix must have 0 to " + bits(network) + " bits");
    }
    return new AddressRange(network, prefixLength);
  }

  /** Returns true if the address is of the same family and in the range. */
  public boolean contains(InetAddress address) {
    return bits(address) == bits(network) && prefix(address).equals(prefix(network));
  }

  private BigInteger prefix(InetAddress address) {
    return new BigInteger(1, address.getAddress()).shiftRight(bits(address) - prefixLength);
  }

  private static int bits(InetAddress address) {
    return address.getAddress().length * Byte.SIZE;
  }

  @Override
  public String toString() {
    return network.getHostAddress() + "/" + prefixLength;
  }
}
