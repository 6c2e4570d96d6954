// SPDX-License-Identifier: Apache-2.0
package org.apache.hadoop.mapred;

import dev.sluice.cluster.suites.PluginCluster;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/**
 * Starts the cluster of Hadoop's own tests with Sluice. Hadoop's class of this name, which runs all
 * NodeManagers at one address, is later on the class path. {@link MiniMRCluster} calls it on the
 * test's thread, and closes the cluster.
 */
public final class MiniMRClientClusterFactory {
  private MiniMRClientClusterFactory() {}

  /** Called by name and signature; Hadoop's local directories take the identifier as their name. */
  public static MiniMRClientCluster create(
      Class<?> caller, String identifier, int nodes, Configuration conf) throws IOException {
    return PluginCluster.start(identifier, nodes, conf);
  }
}
