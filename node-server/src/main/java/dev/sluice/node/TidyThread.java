// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes files of ended applications and executors. {@link Application} and {@link NodeDaemon}
 * start tasks on any thread, and do not wait for them. Each task has a daemon thread of its own, as
 * disks may hang. Tasks may overlap: each caller guards its own files.
 */
final class TidyThread {
  private static final Logger LOG = LoggerFactory.getLogger(TidyThread.class);

  private TidyThread() {}

  interface Task {
    void run() throws IOException;
  }

  /**
   * Starts a task, and does not wait for it. A failure is logged, and the rest of the files stays
   * for now; an Error goes to the process's handler.
   *
   * @param whose owner of the files, in the words of the message
   */
  static void start(String whose, Task task) {
    Thread.ofPlatform()
        .daemon()
        .name("sluice-node-tidy")
        .start(
            () -> {
              try {
                task.run();
              } catch (IOException | RuntimeException e) {
                LOG.error("Cleaning up after {} failed; its files stay for now", whose, e);
              }
            });
  }
}
