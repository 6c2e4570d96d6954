// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.EngineHarness.TestRead;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.verbs.VerbsException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Reaction of the engine to queue pairs that must meet the peer's before they are ready. */
class ReadEngineRendezvousTest extends ReadEngineTestCase {
  @Test
  void nothingIsPostedBeforeThePeersHaveMet() {
    harness.device.meetings = new CompletableFuture<>();
    TestRead read = read("a", 1);
    harness.run();
    assertThat(harness.device.last().chains).isEmpty();
    harness.device.meetings.complete(null);
    harness.run();
    harness.device.last().succeedAll();
    harness.run();
    read.assertSucceeded();
  }

  @Test
  void aPeerThatCannotBeMetIsTriedOnceMore() {
    harness.device.meetings =
        CompletableFuture.failedFuture(
            new VerbsException("rdma_connect", VerbsException.EINVAL, "scripted"));
    TestRead read = read("a", 1);
    harness.run();
    read.assertFailed(Cause.CONNECT);
    assertThat(harness.released).as("the peer had made its side").containsExactly(1, 2);
    assertThat(harness.count(TransferCounter.CONNECT_FAILURES)).isEqualTo(2);
  }

  @Test
  void aMeetingThatTakesTooLongFailsTheConnection() {
    harness.device.meetings = new CompletableFuture<>();
    TestRead read = read("a", 1);
    harness.run();
    harness.advanceMs(1_100);
    harness.advanceMs(1_100);
    read.assertFailed(Cause.CONNECT);
    assertThat(harness.released).containsExactly(1, 2);
    harness.device.meetings.complete(null);
    harness.run();
    assertThat(harness.released).as("once more").containsExactlyInAnyOrder(1, 2, 1, 2);
    harness.released.subList(2, 4).clear(); // The common check counts one per queue pair.
  }
}
