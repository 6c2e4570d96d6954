// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.nio.ByteBuffer;

/**
 * The first bytes on a connection: both queue pairs, and the secrets of both. The {@link Link} of
 * the connecting side sends it, the {@link Acceptor} reads it.
 *
 * @param from number of the queue pair that connects
 * @param fromToken its secret, which the other side knows from the exchange of addresses
 * @param to number of the other queue pair
 * @param toToken its secret
 */
record Hello(int from, Token fromToken, int to, Token toToken) {
  /** The letters SLUC. */
  private static final int MAGIC = 0x534C5543;

  static final int BYTES = 3 * Integer.BYTES + 2 * Token.BYTES;

  ByteBuffer encode() {
    ByteBuffer out = ByteBuffer.allocate(BYTES).putInt(MAGIC).putInt(from).putInt(to);
    fromToken.write(out);
    toToken.write(out);
    return out.flip();
  }

  /** Returns null if the bytes are not a hello. */
  static Hello decode(ByteBuffer in) {
    if (in.getInt() != MAGIC) {
      return null;
    }
    int from = in.getInt();
    int to = in.getInt();
    return new Hello(from, Token.read(in), to, Token.read(in));
  }
}
