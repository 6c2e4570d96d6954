package dev.sluice.rdma.verbs;

import java.util.Objects;

/**
 * Which entry of a port's GID table is used.
 *
 * @param index the one, or {@link VerbsOptions#AUTO} for the best of those that the rest allows
 * @param roceVersion 1 or 2
 * @param family of its address
 * @param range that its address lies in; null for any
 */
public record GidPolicy(int index, int roceVersion, Family family, AddressRange range) {
  public static final GidPolicy DEFAULT = new GidPolicy(VerbsOptions.AUTO, 2, Family.AUTO, null);

  /** Families of the addresses that RoCE GIDs stand for. */
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

  /** The same, but for the entry's index. */
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
