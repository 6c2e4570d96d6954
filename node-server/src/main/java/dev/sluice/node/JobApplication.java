// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.wire.NodeId;
import dev.sluice.node.JobFile.MapReduceJob;
import dev.sluice.node.StateFile.ApplicationState;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Predicate;

/**
 * A MapReduce job that a node serves. Its map outputs lie where Hadoop's map tasks leave them, in
 * YARN's local directories ({@link JobFiles}). Nothing is handed over, and the daemon deletes
 * nothing there. The {@link JobPort} lets its readers in.
 *
 * <p>Any thread. {@link NodeDaemon} opens it, its {@link Application} closes it, and its readers'
 * connections with it.
 */
final class JobApplication extends ServedApplication {
  private final int port;

  /** Connections of readers. Closes those that come after its own end. */
  private final ChannelGroup connections =
      new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

  /**
   * @param nodeId id by which readers know the node
   * @param host address by which readers reach the node
   * @param port the node's port for all jobs
   * @param directories YARN's local directories, also those that do not answer
   * @param answers returns true for a directory whose disk answers
   * @param timer the daemon's timer
   */
  JobApplication(
      NodeDevice device,
      NodeId nodeId,
      String host,
      int port,
      ApplicationState state,
      List<Path> directories,
      Predicate<Path> answers,
      MapReduceJob job,
      ScheduledExecutorService timer)
      throws IOException {
    super(
        device,
        nodeId,
        host,
        state,
        directories,
        NodeFolders::root,
        answers,
        new JobFiles(state.name(), job, directories),
        timer);
    this.port = port;
    started((AutoCloseable) connections::close);
  }

  /** Notes the connection of a reader that has authenticated, to close it with the job. */
  void enter(Channel connection) {
    connections.add(connection);
  }

  @Override
  int port() {
    return port;
  }
}
