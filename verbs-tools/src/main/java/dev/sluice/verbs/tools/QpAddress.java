// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.Gid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a queue pair. The ping-pong programs send it as a line of hexadecimal numbers,
 * which has a fixed length and ends with a zero byte. The format is that of the C programs; {@link
 * PerfEndpoint} uses it too. Immutable.
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
  private static final int HEX = 16;

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
        Integer.parseInt(line.group(1), HEX),
        Integer.parseInt(line.group(2), HEX),
        Integer.parseInt(line.group(3), HEX),
        new Gid(
            Long.parseUnsignedLong(gid.substring(0, HEX), HEX),
            Long.parseUnsignedLong(gid.substring(HEX), HEX)));
  }

  /** Formats the address as the C programs print it. */
  @Override
  public String toString() {
    return String.format(
        "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", lid, qpNumber, psn, PortInfo.asAddress(gid));
  }
}
