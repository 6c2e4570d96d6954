package dev.sluice.benchmarks.read;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Set;

/** How both processes set up the software provider. */
final class Fabric {
  /** READs that the seam and the socket may have under way. */
  static final int MAX_IN_FLIGHT = 256;

  /** As an executor has them by default, but for a large pool. */
  static final TransferOptions TRANSFER_OPTIONS =
      TransferOptions.DEFAULT.with(o -> o.bufferPoolBytes = 256 << 20);

  private Fabric() {}

  static Device openDevice() throws IOException {
    return new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress());
  }

  /** A queue pair that takes and answers READs, in INIT. */
  static QueuePair queuePair(ProtectionDomain domain, CompletionQueue queue) throws IOException {
    QueuePair queuePair = domain.createQueuePair(queue, MAX_IN_FLIGHT);
    queuePair.toInit(Set.of(AccessFlag.REMOTE_READ));
    return queuePair;
  }

  static void connect(QueuePair queuePair, QueuePairAddress remote) throws IOException {
    queuePair.toRtr(remote, ConnectionAttributes.DEFAULT);
    queuePair.toRts();
  }
}
