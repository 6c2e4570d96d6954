package dev.sluice.blocks.node;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes what is over, on a thread of its own, since its disk may not answer. */
final class TidyThread {
  private static final Logger LOG = LoggerFactory.getLogger(TidyThread.class);

  private TidyThread() {}

  interface Task {
    void run() throws IOException;
  }

  /**
   * Never waits for the task. Should that fail, it is logged, and what is left stays for now; an
   * Error is the process's.
   *
   * @param whose in the words of the message
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
                LOG.error("What is over of {} is still here", whose, e);
              }
            });
  }
}
