// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class EventLoopTest {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  private EventLoop loop;

  @BeforeEach
  void open() throws IOException {
    loop =
        new EventLoop(DaemonThreads.named("test-loop"), (_, _) -> EventLoop.NEVER, leaks.tracker());
  }

  @AfterEach
  void close() {
    loop.close();
  }

  private static void fail() {
    throw new LinkageError("thrown by a test");
  }

  @Test
  void tasksBehindAFailedTaskRun() throws Exception {
    CountDownLatch ran = new CountDownLatch(2);
    loop.execute(ran::countDown);
    loop.execute(EventLoopTest::fail);
    loop.execute(ran::countDown);
    loop.start();
    assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
  }

  /** A task may hold a socket that has to be closed. */
  @Test
  void closingRunsTasksBehindAFailedTask() {
    CountDownLatch ran = new CountDownLatch(1);
    loop.execute(EventLoopTest::fail);
    loop.execute(ran::countDown);
    loop.close();
    assertThat(ran.getCount()).isZero();
  }
}
