package dev.sluice.benchmarks.read;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** What the two processes tell each other before they measure. */
final class ControlMessages {
  /** Asks for the peer's memory as the seam's queue pair and as the endpoint's may READ it. */
  static final int MEMORY = 1;

  /** Asks for a queue pair of the seam itself; an address follows. */
  static final int SEAM = 2;

  /** Asks for a queue pair of the peer's endpoint; an address follows. */
  static final int ENDPOINT = 3;

  /** This connection is the plain socket's from now on. */
  static final int SOCKET = 4;

  private ControlMessages() {}

  static void write(DataOutputStream out, QueuePairAddress address) throws IOException {
    out.writeInt(address.qpNumber());
    out.writeInt(address.psn());
    out.writeInt(address.lid());
    out.writeLong(address.gid().subnetPrefix());
    out.writeLong(address.gid().interfaceId());
    out.writeInt(address.mtu());
    out.writeInt(address.maxDestRdAtomic());
    out.writeInt(address.providerData().length);
    out.write(address.providerData());
  }

  static QueuePairAddress readAddress(DataInputStream in) throws IOException {
    return new QueuePairAddress(
        in.readInt(),
        in.readInt(),
        in.readInt(),
        new Gid(in.readLong(), in.readLong()),
        in.readInt(),
        in.readInt(),
        in.readNBytes(in.readInt()));
  }

  static void write(DataOutputStream out, RemoteRegion region) throws IOException {
    out.writeLong(region.address());
    out.writeLong(region.length());
    out.writeInt(region.rkey());
  }

  static RemoteRegion readRegion(DataInputStream in) throws IOException {
    return new RemoteRegion(in.readLong(), in.readLong(), in.readInt());
  }
}
