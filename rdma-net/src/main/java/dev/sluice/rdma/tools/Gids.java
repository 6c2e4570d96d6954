package dev.sluice.rdma.tools;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;

/** GIDs as the C programs print them. */
final class Gids {
  private static final int GROUPS = 8;

  private Gids() {}

  /** Entries that all ports' tables have room for. */
  static int capacity(IbvContext context) throws VerbsException {
    int entries = 0;
    for (int port = 1; port <= context.queryDevice().physPortCnt(); port++) {
      entries += context.queryPort(port).gidTblLen();
    }
    return entries;
  }

  /** Eight groups of four hexadecimal digits. */
  static String inFull(Gid gid) {
    int[] groups = groups(gid);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < GROUPS; i++) {
      text.append(i == 0 ? "" : ":").append(String.format("%04x", groups[i]));
    }
    return text.toString();
  }

  /**
   * As an IPv6 address in the form of inet_ntop(3): the longest run of zeros left out, IPv4
   * addresses with dots.
   */
  static String asAddress(Gid gid) {
    if (gid.isIpv4()) {
      return "::ffff:" + gid;
    }
    int[] groups = groups(gid);
    int run = 0;
    int start = -1;
    for (int i = 0; i < GROUPS; i++) {
      int length = zerosFrom(groups, i);
      if (length > 1 && length > run) {
        run = length;
        start = i;
      }
    }
    return start < 0
        ? join(groups, 0, GROUPS)
        : join(groups, 0, start) + "::" + join(groups, start + run, GROUPS);
  }

  private static int zerosFrom(int[] groups, int start) {
    int end = start;
    while (end < GROUPS && groups[end] == 0) {
      end++;
    }
    return end - start;
  }

  private static String join(int[] groups, int from, int to) {
    StringBuilder text = new StringBuilder();
    for (int i = from; i < to; i++) {
      text.append(i == from ? "" : ":").append(Integer.toHexString(groups[i]));
    }
    return text.toString();
  }

  private static int[] groups(Gid gid) {
    int[] groups = new int[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
      long half = i < GROUPS / 2 ? gid.subnetPrefix() : gid.interfaceId();
      groups[i] = (int) (half >>> Short.SIZE * (3 - i % (GROUPS / 2))) & 0xffff;
    }
    return groups;
  }
}
