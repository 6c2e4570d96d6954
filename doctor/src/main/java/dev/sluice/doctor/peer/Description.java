// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.verbs.Gid;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Device and memory of a {@link PeerServer}, which sends it to each {@link PeerClient} that asks.
 * Immutable. Fields are read in the order in which they are written.
 *
 * @param provider name of its provider
 * @param device name of its device
 * @param gid GID by which its device is reached
 * @param echoPort UDP port of its {@link Echo}; 0 if there is none
 * @param region memory that may be READ
 * @param rate rate of its port
 */
record Description(
    String provider, String device, Gid gid, int echoPort, RemoteRegion region, LinkRate rate) {
  void write(DataOutputStream out) throws IOException {
    out.writeUTF(provider);
    out.writeUTF(device);
    Addresses.write(out, gid);
    out.writeInt(echoPort);
    out.writeLong(region.address());
    out.writeLong(region.length());
    out.writeInt(region.rkey());
    out.writeDouble(rate.bytesPerSecond());
    out.writeUTF(rate.unknown());
  }

  static Description read(DataInputStream in) throws IOException {
    return new Description(
        in.readUTF(),
        in.readUTF(),
        Addresses.readGid(in),
        in.readInt(),
        new RemoteRegion(in.readLong(), in.readLong(), in.readInt()),
        new LinkRate(in.readDouble(), in.readUTF()));
  }
}
