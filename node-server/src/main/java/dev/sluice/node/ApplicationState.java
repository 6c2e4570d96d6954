// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Facts about an application that a node keeps across restarts of its daemon, next to the map
 * outputs. {@link Applications} makes it for a new application; {@link StateFile} reads and writes
 * it. The {@link Application} holds the present one, and replaces it when its {@link
 * ServedApplication} has a port. Immutable; any thread. It holds the secret, so {@link #toString}
 * leaves that out.
 *
 * @param name name of this run of the application
 * @param secret by which its processes authenticate; empty if they do not
 * @param since part of its {@link dev.sluice.blocks.wire.NodeId}: constant as long as the node
 *     keeps its map outputs
 * @param port where the node listens for its processes; 0 as long as there is none
 */
record ApplicationState(String name, String secret, String since, int port) {
  /** State of an application that the node has no map outputs of. */
  static ApplicationState first(String name, String secret) {
    return new ApplicationState(name, secret, random(), 0);
  }

  /** New random id, in hexadecimal digits. */
  static String random() {
    byte[] random = new byte[Long.BYTES];
    new SecureRandom().nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  /** State after a loss of map outputs that the node had. */
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
