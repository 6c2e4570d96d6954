// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.QueuePairAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On RoCE ibv_modify_qp(3) to RTR waits for 1 s if the peer's address does not resolve. */
class UnreachablePeersTest extends FakeAdaptersTestCase {
  private LoopbackEndpoint loopback;

  @BeforeEach
  void openEndpoint() throws Exception {
    loopback = new LoopbackEndpoint(open());
    loopback.read().assertSucceeds();
    adapters.set(0, "unresolvable", 99);
  }

  @AfterEach
  void closeEndpoint() throws Exception {
    adapters.set(0, "unresolvable", 0);
    loopback.close();
  }

  private void awaitResolving() throws Exception {
    await("it is being connected", () -> adapters.get(0, "is_resolving") != 0);
  }

  @Test
  void acceptingAnUnreachablePeerDelaysNoOther() throws Exception {
    CompletableFuture<QueuePairAddress> slow = loopback.acceptLater(LoopbackEndpoint.UNREACHABLE);
    awaitResolving();

    loopback.read("another", loopback.rkey()).assertSucceeds();

    assertThat(slow).isNotDone();
    adapters.set(0, "unresolvable", 0);
    slow.get(30, TimeUnit.SECONDS);
  }

  @Test
  void connectingToAnUnreachablePeerDelaysNoCompletion() throws Exception {
    LoopbackEndpoint.Answer slow = loopback.read(LoopbackEndpoint.UNREACHABLE, loopback.rkey());
    awaitResolving();

    loopback.read().assertSucceeds();
    loopback.read("another", loopback.rkey()).assertSucceeds();

    assertThat(slow.done()).isNotDone();
    adapters.set(0, "unresolvable", 0);
    slow.assertSucceeds();
  }
}
