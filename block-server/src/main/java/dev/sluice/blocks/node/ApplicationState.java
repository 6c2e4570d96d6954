package dev.sluice.blocks.node;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * What a node has to know of an application beside its map outputs, kept where these are.
 *
 * @param name of this run of it
 * @param secret by which its processes authenticate; empty where they do not
 * @param port where the node listens for them; 0 as long as it has none
 */
record ApplicationState(String name, String secret, int port) {
  boolean hasSecret(String other) {
    return MessageDigest.isEqual(
        secret.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return name + " at port " + port; // The secret is not for logs.
  }
}
