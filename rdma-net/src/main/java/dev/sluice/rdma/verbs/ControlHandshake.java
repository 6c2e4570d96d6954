package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpAttr;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** Both sides know all that it takes from the addresses that they exchanged. */
final class ControlHandshake implements Handshake {
  private static final byte GRH_REQUIRED = 1;

  private final IbvQp queuePair;
  private final VerbsDevice device;

  /** What the peer said and what was asked for at RTR, for RTS. */
  private IbvQpAttr toRts;

  ControlHandshake(IbvQp queuePair, VerbsDevice device) {
    this.queuePair = queuePair;
    this.device = device;
  }

  @Override
  public byte[] offer(ChosenPort port) {
    return providerData(port.port().requiresGrh());
  }

  /** What a peer cannot see of the other side's port. */
  static byte[] providerData(boolean requiresGrh) {
    return requiresGrh ? new byte[] {GRH_REQUIRED} : new byte[0];
  }

  /** Whether packets to that side need a GRH. */
  static boolean requiresGrh(QueuePairAddress remote) {
    return Arrays.equals(remote.providerData(), providerData(true));
  }

  @Override
  public CompletableFuture<QueuePairAddress> meet(QueuePairAddress remote, long timeoutMs) {
    return CompletableFuture.completedFuture(remote);
  }

  @Override
  public void toRtr(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes)
      throws VerbsException {
    queuePair.modify(Transitions.toRtr(port, local, remote, attributes));
    toRts = Transitions.toRts(local, remote, attributes, device.maxRetryCount());
  }

  @Override
  public void toRts() throws VerbsException {
    queuePair.modify(toRts);
  }

  @Override
  public void end() {}
}
