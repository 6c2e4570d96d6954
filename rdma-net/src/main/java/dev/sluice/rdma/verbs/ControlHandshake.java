// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.VerbsQueuePair.Handshake;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvEce;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Connects with the addresses that both sides exchange over the control channel. The provider data
 * of an address consist of a byte of flags, then vendor and options of {@link Ece}. Without options
 * they are the flags alone; without options and flags they are empty. Peers of the first release
 * read the flags only, and take longer data for an address without flags. {@link VerbsDevice}
 * creates one for each queue pair, which calls it under its lock.
 */
final class ControlHandshake implements Handshake {
  private static final byte GRH_REQUIRED = 1;
  private static final int ECE_BYTES = 1 + 2 * Integer.BYTES;

  private final IbvQp queuePair;
  private final VerbsDevice device;
  private final Ece ece;
  private boolean connecting;

  /** Attributes for RTS, prepared at RTR from the peer's address and the arguments; null before. */
  private @Nullable IbvQpAttr toRts;

  ControlHandshake(IbvQp queuePair, VerbsDevice device) {
    this.queuePair = queuePair;
    this.device = device;
    ece = new Ece(queuePair);
  }

  /**
   * A port that requires a GRH offers no options: a peer of the first release must see the flag.
   */
  @Override
  public byte[] offer(ChosenPort port) {
    boolean requiresGrh = port.port().requiresGrh();
    IbvEce offer = ece.offer();
    return providerData(requiresGrh, requiresGrh ? Ece.NONE : offer);
  }

  static byte[] providerData(boolean requiresGrh, IbvEce ece) {
    byte flags = requiresGrh ? GRH_REQUIRED : 0;
    if (ece.options() == 0) {
      return flags == 0 ? new byte[0] : new byte[] {flags};
    }
    return ByteBuffer.allocate(ECE_BYTES)
        .put(flags)
        .putInt(ece.vendorId())
        .putInt(ece.options())
        .array();
  }

  /** Returns true if packets to that side need a GRH. */
  static boolean requiresGrh(QueuePairAddress remote) {
    byte[] data = remote.providerData();
    return data.length > 0 && (data[0] & GRH_REQUIRED) != 0;
  }

  private static IbvEce ece(QueuePairAddress remote) {
    ByteBuffer data = ByteBuffer.wrap(remote.providerData());
    return data.remaining() < ECE_BYTES
        ? Ece.NONE
        : new IbvEce(data.getInt(1), data.getInt(1 + Integer.BYTES), 0);
  }

  @Override
  public CompletableFuture<QueuePairAddress> meet(QueuePairAddress remote, long timeoutMs) {
    connecting = true;
    return CompletableFuture.completedFuture(remote);
  }

  @Override
  public byte[] toRtr(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes)
      throws VerbsException {
    if (connecting) {
      ece.complete(ece(remote));
    } else {
      ece.accept(ece(remote));
    }
    queuePair.modify(Transitions.toRtr(port, local, remote, attributes));
    toRts = Transitions.toRts(local, remote, attributes, device.maxRetryCount());
    return connecting
        ? local.providerData()
        : providerData(port.port().requiresGrh(), ece.answer());
  }

  @Override
  public void toRts() throws VerbsException {
    queuePair.modify(requireNonNull(toRts));
  }

  @Override
  public void end() {
    connecting = false;
  }
}
