// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.Gid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a queue pair. The ping-pong programs send it as a line of hexadecimal numbers,
 * which has a fixed length and ends with a zero byte. The format is that of the C programs; {@link
 * PerfEndpoint} uses it too. {@link LocalPort#address} creates that of this side. Static methods
 * format GIDs as those programs print them. Immutable.
 *
 * @param lid 16 bits; 0 on Ethernet
 * @param qpNumber 24 bits
 * @param psn first packet sequence number of the queue pair's sends, 24 bits
 * @param gid zero for none
 */
record QpAddress(int lid, int qpNumber, int psn, Gid gid) {
  /** Placeholder for a queue pair that is not used. */
  static final QpAddress NONE = new QpAddress(0, 0, 0, new Gid(0, 0));

  /** Bytes of the line. */
  static final int WIRE_LENGTH = 52;

  private static final Pattern LINE =
      Pattern.compile(
          "\\s*(\\p{XDigit}{1,4}):(\\p{XDigit}{1,6}):(\\p{XDigit}{1,6}):(\\p{XDigit}{32})\0*");

  /** Two or more groups of zeros, with the colons around them. */
  private static final Pattern ZEROS = Pattern.compile("(^|:)0(:0)+(:|$)");

  byte[] toWire() {
    String line =
        String.format(
            "%04x:%06x:%06x:%016x%016x\0",
            lid, qpNumber, psn, gid.subnetPrefix(), gid.interfaceId());
    return line.getBytes(StandardCharsets.US_ASCII);
  }

  /** Throws an IOException if the peer sent something else, as another program does. */
  static QpAddress fromWire(byte[] bytes) throws IOException {
    Matcher line = LINE.matcher(new String(bytes, StandardCharsets.US_ASCII));
    if (!line.matches()) {
      throw new IOException(
          "the peer sent no address of a queue pair: it must run the same program");
    }
    String gid = line.group(4);
    return new QpAddress(
        HexFormat.fromHexDigits(line.group(1)),
        HexFormat.fromHexDigits(line.group(2)),
        HexFormat.fromHexDigits(line.group(3)),
        new Gid(
            HexFormat.fromHexDigitsToLong(gid, 0, 16), HexFormat.fromHexDigitsToLong(gid, 16, 32)));
  }

  /** Formats the address as the C programs print it. */
  @Override
  public String toString() {
    return String.format(
        "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", lid, qpNumber, psn, asAddress(gid));
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
