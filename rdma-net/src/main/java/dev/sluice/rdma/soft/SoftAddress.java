package dev.sluice.rdma.soft;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Comparator;

/**
 * How a software queue pair is reached: what {@link QueuePairAddress#providerData} says.
 *
 * @param gid address of the device
 * @param port TCP port that the device listens on
 * @param qpNumber the queue pair
 * @param token secret of the queue pair, good for one connection
 */
record SoftAddress(Gid gid, int port, int qpNumber, Token token) {
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
          "the peer's queue pair is not one of this version of the software provider");
    }
    int port = Short.toUnsignedInt(data.getShort());
    return new SoftAddress(address.gid(), port, address.qpNumber(), Token.read(data));
  }

  byte[] toProviderData() {
    ByteBuffer data = ByteBuffer.allocate(BYTES).put(VERSION).putShort((short) port);
    token.write(data);
    return data.array();
  }

  /** Of two queue pairs the lower one connects; both sides come to the same result. */
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
}
