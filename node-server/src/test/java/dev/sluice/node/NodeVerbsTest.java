// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Daemon, executor and reader on a real device, each in its own process. */
@Tag("rdma-device")
class NodeVerbsTest {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final int BYTES = 1_000_000;

  @TempDir Path directory;
  private Path socket;
  private TestMapOutputs outputs;

  @BeforeEach
  void open() throws Exception {
    assumeThat(DEVICES).as("RDMA devices").isNotEmptyDirectory();
    Files.createDirectory(directory.resolve("node"));
    outputs = new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    socket = directory.resolve("node.sock");
  }

  private NodeProcess startNode() throws Exception {
    return NodeProcess.start(
        directory,
        Map.of(
            NodeSettings.DIRECTORIES.key(), directory.resolve("node").toString(),
            NodeSettings.SOCKET.key(), socket.toString(),
            NodeSettings.HOST.key(), InetAddress.getLocalHost().getHostAddress(),
            NodeSettings.PROVIDER.key(), "verbs",
            NodeSettings.REGISTRATION_MAX_BYTES.key(), "256m",
            NodeSettings.STAGING_MAX_BYTES.key(), "4m",
            NodeSettings.MIN_FREE_BYTES.key(), "1m",
            NodeSettings.HTTP.key(), ""));
  }

  private static Device device() throws IOException {
    return Providers.open(
        "verbs", InetAddress.getLocalHost(), VerbsOptions.DEFAULT, SoftOptions.DEFAULT);
  }

  /** In the end no process of the other side runs: READs need only the device. */
  @Test
  void mapOutputsAreReadWhileExecutorAndDaemonAreStopped() throws Exception {
    byte[] data = outputs.write(ExecutorProcess.SHUFFLE, ExecutorProcess.MAP_ID, BYTES);
    try (NodeProcess node = startNode();
        ExecutorProcess executor = ExecutorProcess.start(socket, directory.resolve("executor"));
        NodeReader reader =
            new NodeReader(ExecutorProcess.NAME.application(), ExecutorProcess.SECRET, device())) {
      PeerAddress peer = executor.node();
      executor.signal("STOP");
      assertThat(reader.isRegistered(peer, ExecutorProcess.SHUFFLE, ExecutorProcess.MAP_ID))
          .isTrue();
      RemoteRegion region =
          reader.locate(peer, ExecutorProcess.SHUFFLE, ExecutorProcess.MAP_ID).data();
      assertThat(reader.read(peer, region)).isEqualTo(data);

      node.signal("STOP");
      assertThat(reader.read(peer, region)).isEqualTo(data);
      node.signal("CONT");
    }
  }
}
