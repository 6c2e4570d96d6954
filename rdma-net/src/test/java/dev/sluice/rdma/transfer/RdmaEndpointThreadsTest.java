// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.FewThreads;
import dev.sluice.rdma.NewThreads;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The threads of an endpoint, and their absence. */
class RdmaEndpointThreadsTest {
  private static final QueuePairConnector NO_PEERS =
      (_, _, _) -> CompletableFuture.failedFuture(new IOException("there is no peer"));

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private Device device() throws IOException {
    return new SoftProvider(SoftOptions.DEFAULT.with(o -> o.leaks = leaks.tracker()))
        .open(InetAddress.getLoopbackAddress());
  }

  @Test
  void theThreadsHaveTheClassLoaderOfTheJar() throws Exception {
    NewThreads threads = new NewThreads();
    try (RdmaEndpoint endpoint =
        NewThreads.underAnotherLoader(
            () -> RdmaEndpoint.open(device(), SoftPair.OPTIONS, NO_PEERS))) {
      assertThat(threads.started())
          .as("threads of %s", endpoint.device())
          .extracting(Thread::getName)
          .contains("sluice-read", "sluice-soft-io-0", "sluice-soft-io-1");
      assertThat(threads.started())
          .allMatch(Thread::isDaemon)
          .extracting(Thread::getContextClassLoader)
          .containsOnly(DaemonThreads.class.getClassLoader());
    }
  }

  @Test
  void anEndpointWhoseThreadCannotBeStartedClosesItsDevice() throws Exception {
    Device device = device();
    assertThatThrownBy(
            () -> RdmaEndpoint.open(device, SoftPair.OPTIONS, NO_PEERS, new FewThreads(0)))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(leaks.tracker().open()).isEmpty();
  }
}
