// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.NewThreads;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.transfer.DaemonThreads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The threads of a device. */
class VerbsThreadsTest extends FakeAdaptersTestCase {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private VerbsOptions byCm() {
    return devices("mlx5_0")
        .with(
            o -> {
              o.connect = ConnectMode.CM;
              o.leaks = leaks.tracker();
            });
  }

  @Test
  void theThreadsHaveTheClassLoaderOfTheJar() throws Exception {
    NewThreads threads = new NewThreads();
    try (var _ = NewThreads.underAnotherLoader(() -> open(byCm()))) {
      assertThat(threads.started())
          .extracting(Thread::getName)
          .containsExactlyInAnyOrder("sluice-verbs-events", "sluice-verbs-cm");
      assertThat(threads.started())
          .allMatch(Thread::isDaemon)
          .extracting(Thread::getContextClassLoader)
          .containsOnly(DaemonThreads.class.getClassLoader());
    }
  }
}
