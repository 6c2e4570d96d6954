// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.node.JobFile.MapReduceJob;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A MapReduce job that a node serves. Its map outputs lie where Hadoop's map tasks leave them, in
 * YARN's local directories ({@link JobFiles}). Nothing is handed over, and the daemon deletes
 * nothing there. {@link NodeDaemon} opens it, its {@link Application} closes it.
 */
final class JobApplication extends ServedApplication {
  private final BlockServer server;

  /**
   * @param nodeId id by which readers know the node
   * @param port port to listen on
   * @param directories YARN's local directories
   */
  JobApplication(
      NodeDevice device,
      NodeId nodeId,
      ApplicationPort port,
      List<Path> directories,
      MapReduceJob job)
      throws IOException {
    super(
        device,
        nodeId,
        port.host(),
        port.state(),
        directories,
        NodeFolders::root,
        new JobFiles(port.state().name(), job, directories));
    boolean listening = false;
    try {
      server = started(port.listen(ApplicationPort.transport(), readers()));
      listening = true;
    } finally {
      if (!listening) {
        close();
      }
    }
  }

  @Override
  int port() {
    return server.port();
  }
}
