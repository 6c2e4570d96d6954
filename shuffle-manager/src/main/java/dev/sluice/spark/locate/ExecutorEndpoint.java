// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Server of an executor's map outputs, and the provider by which its memory can be READ.
 *
 * @param executorId executor that wrote the map outputs
 * @param peer the process that serves them, with its address: the executor, or its node daemon
 * @param provider provider of that process's device; only executors with the same one READ from it
 */
public record ExecutorEndpoint(String executorId, PeerAddress peer, String provider) {
  /** Creates the endpoint of an executor that serves its own map outputs. */
  public ExecutorEndpoint(PeerAddress peer, String provider) {
    this(peer.id(), peer, provider);
  }

  /** Returns true if the map outputs are still served after the executor is lost. */
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
