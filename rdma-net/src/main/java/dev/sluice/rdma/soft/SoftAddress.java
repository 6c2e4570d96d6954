// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Comparator;

/**
 * Address of a software queue pair: the content of {@link QueuePairAddress#providerData}. The
 * {@link SoftDevice} makes it for its own queue pairs, {@link SoftQueuePair} reads that of the
 * peer; {@link Link} connects by both. Immutable. It holds a secret, so {@link #toString} leaves
 * that out.
 *
 * @param gid address of the device
 * @param port TCP port that the device listens on
 * @param qpNumber the queue pair
 * @param token secret of the queue pair, valid for one connection
 */
record SoftAddress(Gid gid, int port, int qpNumber, Token token) {
  /** Version of the address, the {@link Hello} and the frames: peers of another one are refused. */
  private static final byte VERSION = 2;

  private static final int BYTES = 1 + Short.BYTES + Token.BYTES;

  private static final Comparator<SoftAddress> CONNECTING_FIRST =
      Comparator.comparingLong((SoftAddress a) -> a.gid.subnetPrefix())
          .thenComparingLong(a -> a.gid.interfaceId())
          .thenComparingInt(SoftAddress::port)
          .thenComparingInt(SoftAddress::qpNumber);

  static SoftAddress of(QueuePairAddress address) throws VerbsException {
    ByteBuffer data = ByteBuffer.wrap(address.providerData());
    if (data.remaining() != BYTES || data.get() != VERSION) {
      throw new VerbsException(
          "ibv_modify_qp(RTR, " + address + ")",
          VerbsException.EINVAL,
          "the peer's address is not one of this version of the software provider");
    }
    int port = Short.toUnsignedInt(data.getShort());
    return new SoftAddress(address.gid(), port, address.qpNumber(), Token.read(data));
  }

  byte[] toProviderData() {
    ByteBuffer data = ByteBuffer.allocate(BYTES).put(VERSION).putShort((short) port);
    token.write(data);
    return data.array();
  }

  /**
   * Returns true if this side connects. The lower address does, so both sides come to the same
   * result.
   */
  boolean connectsTo(SoftAddress peer) {
    return CONNECTING_FIRST.compare(this, peer) < 0;
  }

  InetSocketAddress socketAddress() {
    return new InetSocketAddress(gid.toInetAddress(), port);
  }

  @Override
  public String toString() {
    return "QP 0x%06x at %s port %d".formatted(qpNumber, gid, port);
  }

  /**
   * A secret of 128 bits that lets one peer connect to one queue pair once. {@link SoftDevice}
   * makes it, the peer gets it in a {@link SoftAddress} and shows it in a {@link Hello}. Immutable.
   * Never logged.
   */
  static final class Token {
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
}
