package dev.sluice.blocks.node;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * What a node has to know of an application beside its map outputs, kept where these are.
 *
 * @param name of this run of it
 * @param secret by which its processes authenticate; empty where they do not
 * @param since of its {@link dev.sluice.blocks.wire.NodeId}: as long as the node keeps what it has
 * @param port where the node listens for them; 0 as long as it has none
 */
record ApplicationState(String name, String secret, String since, int port) {
  /** Of an application that the node has nothing of. */
  static ApplicationState first(String name, String secret) {
    return new ApplicationState(name, secret, random(), 0);
  }

  /** An id that nobody has had, in hexadecimal digits. */
  static String random() {
    byte[] random = new byte[Long.BYTES];
    new SecureRandom().nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  /** Of which not all is there that the node had. */
  ApplicationState anew() {
    return new ApplicationState(name, secret, random(), port);
  }

  ApplicationState withPort(int newPort) {
    return new ApplicationState(name, secret, since, newPort);
  }

  boolean hasSecret(String other) {
    return MessageDigest.isEqual(
        secret.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return name + " at port " + port; // The secret is not for logs.
  }
}
