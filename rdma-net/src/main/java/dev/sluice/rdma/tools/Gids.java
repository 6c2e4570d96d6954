package dev.sluice.rdma.tools;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** GIDs as the C programs print them. */
final class Gids {
  private static final int GROUPS = 8;
  private static final long IPV4_MAPPED = 0xffff;

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
    if (gid.subnetPrefix() == 0 && gid.interfaceId() >>> Integer.SIZE == IPV4_MAPPED) {
      return "::ffff:" + ipv4((int) gid.interfaceId());
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

  private static String ipv4(int address) {
    byte[] bytes = ByteBuffer.allocate(Integer.BYTES).putInt(address).array();
    try {
      return InetAddress.getByAddress(bytes).getHostAddress();
    } catch (UnknownHostException e) {
      throw new AssertionError("four bytes are an IPv4 address", e);
    }
  }
}
