// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import dev.sluice.rdma.transfer.DaemonThreads;
import java.util.concurrent.ScheduledExecutorService;

/** Timer of all stagers of the tests in this JVM, as a process has one. */
public final class TestTimer {
  public static final ScheduledExecutorService TIMER = DaemonThreads.timer();

  private TestTimer() {}
}
