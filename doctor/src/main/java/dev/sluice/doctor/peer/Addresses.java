// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.verbs.Gid;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Writes addresses of queue pairs as bytes, and reads them. The doctor runs without Spark, and so
 * without Kryo, which the codec of other messages needs. {@link PeerClient} and {@link PeerServer}
 * use it, on any thread. Fields are read in the order in which they are written; another order
 * needs another magic number in {@link Question}.
 */
final class Addresses {
  /** Limits the memory that a stranger can make this process take. */
  private static final int MAX_PROVIDER_BYTES = 4096;

  private Addresses() {}

  static void write(DataOutputStream out, QueuePairAddress address) throws IOException {
    out.writeInt(address.qpNumber());
    out.writeInt(address.psn());
    out.writeInt(address.lid());
    write(out, address.gid());
    out.writeInt(address.mtu());
    out.writeInt(address.maxDestRdAtomic());
    out.writeInt(address.providerData().length);
    out.write(address.providerData());
  }

  static QueuePairAddress read(DataInputStream in) throws IOException {
    return new QueuePairAddress(
        in.readInt(),
        in.readInt(),
        in.readInt(),
        readGid(in),
        in.readInt(),
        in.readInt(),
        readProviderData(in));
  }

  private static byte[] readProviderData(DataInputStream in) throws IOException {
    int bytes = in.readInt();
    if (bytes < 0 || bytes > MAX_PROVIDER_BYTES) {
      throw new IOException("the address has " + bytes + " bytes of provider data");
    }
    byte[] data = new byte[bytes];
    in.readFully(data);
    return data;
  }

  static void write(DataOutputStream out, Gid gid) throws IOException {
    out.writeLong(gid.subnetPrefix());
    out.writeLong(gid.interfaceId());
  }

  static Gid readGid(DataInputStream in) throws IOException {
    return new Gid(in.readLong(), in.readLong());
  }
}
