// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import java.util.Comparator;
import java.util.regex.Pattern;

/** Formats GIDs as the C programs print them. Tests compare the texts with those of C. */
final class Gids {
  /** Two or more groups of zeros, with the colons around them. */
  private static final Pattern ZEROS = Pattern.compile("(^|:)0(:0)+(:|$)");

  private Gids() {}

  /** Number of entries in the tables of all ports. */
  static int capacity(IbvContext context) throws VerbsException {
    int entries = 0;
    for (int port = 1; port <= context.queryDevice().physPortCnt(); port++) {
      entries += context.queryPort(port).gidTblLen();
    }
    return entries;
  }

  /** Formats a GID as eight groups of four hexadecimal digits. */
  static String inFull(Gid gid) {
    return "%016x%016x"
        .formatted(gid.subnetPrefix(), gid.interfaceId())
        .replaceAll("(.{4})(?!$)", "$1:");
  }

  /**
   * Formats a GID as inet_ntop(3) formats an IPv6 address: without the longest run of zeros, and
   * with dots for IPv4 addresses.
   */
  static String asAddress(Gid gid) {
    if (gid.isIpv4()) {
      return "::ffff:" + gid;
    }
    String text = inFull(gid).replaceAll("\\b0{1,3}", "");
    return ZEROS
        .matcher(text)
        .results()
        .max(Comparator.comparingInt(run -> run.group().length()))
        .map(run -> text.substring(0, run.start()) + "::" + text.substring(run.end()))
        .orElse(text);
  }
}
