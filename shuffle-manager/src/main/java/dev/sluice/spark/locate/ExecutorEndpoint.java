package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Where an executor's block server listens, and how its memory can be READ.
 *
 * @param peer the executor and its block server
 * @param provider provider of its device; only executors with the same one READ from it
 */
public record ExecutorEndpoint(PeerAddress peer, String provider) {
  void write(Output output) {
    Fields.writeString(output, peer.id());
    Fields.writeString(output, peer.host());
    output.writeInt(peer.port());
    Fields.writeString(output, provider);
  }

  static ExecutorEndpoint read(Input input) {
    return new ExecutorEndpoint(
        new PeerAddress(Fields.readString(input), Fields.readString(input), input.readInt()),
        Fields.readString(input));
  }
}
