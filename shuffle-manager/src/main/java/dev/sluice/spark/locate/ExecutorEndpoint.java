package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Where an executor's map outputs are served, and how the memory of that process can be READ.
 *
 * @param executorId who wrote them
 * @param peer who serves them, and where it listens: the executor, or its node's block server
 * @param provider provider of that process's device; only executors with the same one READ from it
 */
public record ExecutorEndpoint(String executorId, PeerAddress peer, String provider) {
  /** Of an executor that serves its own. */
  public ExecutorEndpoint(PeerAddress peer, String provider) {
    this(peer.id(), peer, provider);
  }

  /** Whether the map outputs are there when the executor is gone. */
  public boolean outlivesExecutor() {
    return !peer.id().equals(executorId);
  }

  void write(Output output) {
    Fields.writeString(output, executorId);
    write(output, peer);
    Fields.writeString(output, provider);
  }

  static void write(Output output, PeerAddress peer) {
    Fields.writeString(output, peer.id());
    Fields.writeString(output, peer.host());
    output.writeInt(peer.port());
  }

  static ExecutorEndpoint read(Input input) {
    return new ExecutorEndpoint(
        Fields.readString(input), readPeer(input), Fields.readString(input));
  }

  static PeerAddress readPeer(Input input) {
    return new PeerAddress(Fields.readString(input), Fields.readString(input), input.readInt());
  }
}
