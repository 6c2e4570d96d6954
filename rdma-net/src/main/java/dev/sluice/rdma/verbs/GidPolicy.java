// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.IpLiteral;
import java.math.BigInteger;
import java.net.InetAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Rules for the choice of an entry of a port's GID table. The settings make them, {@link
 * GidChooser} follows them. Immutable.
 *
 * @param index of the entry, or {@link VerbsOptions#AUTO} for the best entry that the other rules
 *     allow
 * @param roceVersion 1 or 2
 * @param family of the entry's address
 * @param range that contains the entry's address; null for any
 */
public record GidPolicy(int index, int roceVersion, Family family, @Nullable AddressRange range) {
  public static final GidPolicy DEFAULT = new GidPolicy(VerbsOptions.AUTO, 2, Family.AUTO, null);

  /** Families of the addresses that RoCE GIDs represent. */
  public enum Family {
    /** IPv4 before IPv6. */
    AUTO,
    IPV4,
    IPV6
  }

  public GidPolicy {
    checkRange("gid.index", index, VerbsOptions.AUTO, 65_535);
    checkRange("gid.roceVersion", roceVersion, 1, 2);
    Objects.requireNonNull(family, "family");
  }

  /** A copy with another index. */
  public GidPolicy at(int entry) {
    return new GidPolicy(entry, roceVersion, family, range);
  }

  static void checkRange(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s is %d, must be %d to %d".formatted(option, value, least, most));
    }
  }

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
      InetAddress network = IpLiteral.parse(text.substring(0, slash));
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
}
