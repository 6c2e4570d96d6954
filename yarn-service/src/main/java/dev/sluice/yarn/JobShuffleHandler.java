// SPDX-License-Identifier: Apache-2.0
package dev.sluice.yarn;

import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.jspecify.annotations.Nullable;

/**
 * Hadoop's own shuffle service, which also tells the node daemon of each MapReduce job and its
 * secret ({@link JobFolders}). YARN gives the secret to the service {@code mapreduce_shuffle}
 * alone, so this class takes the place of Hadoop's in yarn.nodemanager.aux-services. The daemon is
 * run by {@link SluiceNodeService}.
 */
public final class JobShuffleHandler extends ShuffleHandler {
  /** Set by {@link #serviceInit}; null if that was not called before the stop. */
  private @Nullable DirectoryThreads threads;

  /** Set by {@link #serviceInit}, which precedes every other call but the stop. */
  @SuppressWarnings("NullAway.Init")
  private JobFolders folders;

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    DirectoryThreads made =
        new DirectoryThreads(SluiceNodeService.localDirectories(conf), DirectoryThreads.TIMEOUT);
    threads = made;
    folders = new JobFolders(made);
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStop() throws Exception {
    if (threads != null) {
      threads.close();
    }
    super.serviceStop();
  }

  @Override
  public void initializeApplication(ApplicationInitializationContext context) {
    ByteBuffer data = context.getApplicationDataForService();
    ByteBuffer token = data == null ? null : data.duplicate(); // Hadoop reads the other.
    super.initializeApplication(context);
    folders.write(context.getApplicationId(), context.getUser(), token);
  }

  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    folders.ended(context.getApplicationId());
    super.stopApplication(context);
  }
}
