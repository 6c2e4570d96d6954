package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Where an executor's block server listens, and how its memory can be READ.
 *
 * @param executorId Spark's executor id
 * @param host host name or address
 * @param port TCP port of the block server
 * @param provider provider of its device; only executors with the same one READ from it
 */
public record ExecutorEndpoint(String executorId, String host, int port, String provider) {
  PeerAddress address() {
    return new PeerAddress(executorId, host, port);
  }

  void write(Output output) {
    Fields.writeString(output, executorId);
    Fields.writeString(output, host);
    output.writeInt(port);
    Fields.writeString(output, provider);
  }

  static ExecutorEndpoint read(Input input) {
    return new ExecutorEndpoint(
        Fields.readString(input),
        Fields.readString(input),
        input.readInt(),
        Fields.readString(input));
  }
}
