// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** Parses IP addresses without asking a name server. JDK 21 has no method for that. Any thread. */
public final class IpLiteral {
  private static final String BYTE = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";

  /** Texts that the JDK takes for addresses and never for names: InetAddress#getByName. */
  private static final Pattern LITERAL =
      Pattern.compile("%1$s(\\.%1$s){3}|[0-9A-Fa-f:][^\\s]*:.*|:.*".formatted(BYTE));

  private IpLiteral() {}

  /**
   * @param text IPv4 address of four numbers, or IPv6 address
   * @throws IllegalArgumentException if the text is not an address
   */
  public static InetAddress parse(String text) {
    try {
      if (LITERAL.matcher(text).matches()) {
        return InetAddress.getByName(text);
      }
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("\"" + text + "\" is not an IP address", e);
    }
    throw new IllegalArgumentException("\"" + text + "\" is not an IP address");
  }
}
