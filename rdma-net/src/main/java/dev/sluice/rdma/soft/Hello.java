package dev.sluice.rdma.soft;

import java.nio.ByteBuffer;

/**
 * The first bytes on a connection: who connects to whom, with the secrets of both.
 *
 * @param from number of the queue pair that connects
 * @param fromToken its secret, which the other side knows from the exchange of addresses
 * @param to number of the queue pair that is connected to
 * @param toToken its secret
 */
record Hello(int from, Token fromToken, int to, Token toToken) {
  private static final int MAGIC = 0x534C5543;
  static final int BYTES = 3 * Integer.BYTES + 2 * Token.BYTES;

  ByteBuffer encode() {
    ByteBuffer out = ByteBuffer.allocate(BYTES).putInt(MAGIC).putInt(from).putInt(to);
    fromToken.write(out);
    toToken.write(out);
    return out.flip();
  }

  /** Null for what is not a hello. */
  static Hello decode(ByteBuffer in) {
    if (in.getInt() != MAGIC) {
      return null;
    }
    int from = in.getInt();
    int to = in.getInt();
    return new Hello(from, Token.read(in), to, Token.read(in));
  }
}
