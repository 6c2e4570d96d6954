// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.verbs.VerbsException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * Address at which rdma_cm reaches a queue pair: the content of {@link
 * QueuePairAddress#providerData}. {@link CmHandshake} makes its own and decodes the peer's. A
 * changed layout needs another version. Immutable; holds a secret, which is never logged.
 *
 * @param listening address and port of the device's listening id
 * @param token secret of the queue pair, valid for one connection
 */
record CmAddress(InetSocketAddress listening, byte[] token) {
  static final int TOKEN_BYTES = 16;

  /** Bytes of a request's private data: the number of the requested queue pair, and its token. */
  static final int REQUEST_BYTES = Integer.BYTES + TOKEN_BYTES;

  private static final byte VERSION = 1;
  private static final int FIXED_BYTES = 1 + TOKEN_BYTES + Short.BYTES;

  static CmAddress of(QueuePairAddress address) throws VerbsException {
    ByteBuffer data = ByteBuffer.wrap(address.providerData());
    if (data.remaining() < FIXED_BYTES || data.get() != VERSION) {
      throw unusable(
          address, "the peer does not use rdma_cm as this process does (setting connect)");
    }
    byte[] token = new byte[TOKEN_BYTES];
    data.get(token);
    int port = Short.toUnsignedInt(data.getShort());
    byte[] ip = new byte[data.remaining()];
    data.get(ip);
    try {
      return new CmAddress(new InetSocketAddress(InetAddress.getByAddress(ip), port), token);
    } catch (UnknownHostException e) {
      throw unusable(address, "its IP address has " + ip.length + " bytes");
    }
  }

  private static VerbsException unusable(QueuePairAddress address, String reason) {
    return new VerbsException("rdma_connect(" + address + ")", VerbsException.EINVAL, reason);
  }

  byte[] toProviderData() {
    byte[] ip = listening.getAddress().getAddress();
    return ByteBuffer.allocate(FIXED_BYTES + ip.length)
        .put(VERSION)
        .put(token)
        .putShort((short) listening.getPort())
        .put(ip)
        .array();
  }

  /** The private data of a request for the queue pair with this number. */
  byte[] request(int qpNumber) {
    return ByteBuffer.allocate(REQUEST_BYTES).putInt(qpNumber).put(token).array();
  }

  /** Leaves out the token. */
  @Override
  public String toString() {
    return listening.toString();
  }
}
