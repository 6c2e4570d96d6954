// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import java.util.Objects;

/**
 * Rules for the choice of an entry of a port's GID table.
 *
 * @param index of the entry, or {@link VerbsOptions#AUTO} for the best entry that the other rules
 *     allow
 * @param roceVersion 1 or 2
 * @param family of the entry's address
 * @param range that contains the entry's address; null for any
 */
public record GidPolicy(int index, int roceVersion, Family family, AddressRange range) {
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
}
