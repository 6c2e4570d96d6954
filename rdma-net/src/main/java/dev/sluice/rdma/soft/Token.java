// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;

/**
 * A secret of 128 bits that lets one peer connect to one queue pair once. {@link SoftDevice} makes
 * it, the peer gets it in a {@link SoftAddress} and shows it in a {@link Hello}. Immutable. Never
 * logged.
 */
final class Token {
  static final int BYTES = 16;

  private final byte[] bytes;

  private Token(byte[] bytes) {
    this.bytes = bytes;
  }

  static Token random(SecureRandom random) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return new Token(bytes);
  }

  static Token read(ByteBuffer in) {
    byte[] bytes = new byte[BYTES];
    in.get(bytes);
    return new Token(bytes);
  }

  void write(ByteBuffer out) {
    out.put(bytes);
  }

  /** Compares in constant time. */
  boolean matches(Token other) {
    return MessageDigest.isEqual(bytes, other.bytes);
  }

  @Override
  public String toString() {
    return "token";
  }
}
