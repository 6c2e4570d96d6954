package dev.sluice.doctor.peer;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.RemoteRegion;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * What a {@link PeerServer} has.
 *
 * @param provider name of its provider
 * @param device name of its device
 * @param gid by which its device is reached
 * @param echoPort UDP port of its {@link Echo}; 0 where there is none
 * @param region what may be READ
 */
record Description(String provider, String device, Gid gid, int echoPort, RemoteRegion region) {
  void write(DataOutputStream out) throws IOException {
    out.writeUTF(provider);
    out.writeUTF(device);
    Addresses.write(out, gid);
    out.writeInt(echoPort);
    out.writeLong(region.address());
    out.writeLong(region.length());
    out.writeInt(region.rkey());
  }

  static Description read(DataInputStream in) throws IOException {
    return new Description(
        in.readUTF(),
        in.readUTF(),
        Addresses.readGid(in),
        in.readInt(),
        new RemoteRegion(in.readLong(), in.readLong(), in.readInt()));
  }
}
