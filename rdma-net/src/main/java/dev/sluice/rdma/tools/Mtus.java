package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvMtu;
import java.io.IOException;

/** Path MTUs in bytes. */
final class Mtus {
  private static final int SMALLEST = 256;

  private Mtus() {}

  static int bytes(IbvMtu mtu) {
    return SMALLEST << mtu.ordinal();
  }

  static IbvMtu of(int bytes) throws IOException {
    for (IbvMtu mtu : IbvMtu.values()) {
      if (bytes(mtu) == bytes) {
        return mtu;
      }
    }
    throw new IOException(bytes + " is not a path MTU: 256, 512, 1024, 2048 or 4096 bytes");
  }
}
