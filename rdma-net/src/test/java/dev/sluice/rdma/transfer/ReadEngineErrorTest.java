// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.EngineHarness.TestRead;
import dev.sluice.rdma.transfer.ReadException.Cause;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An Error in one step of the engine's turn ends only that step. */
class ReadEngineErrorTest extends ReadEngineTestCase {
  private static Error error() {
    return new LinkageError("thrown by a test");
  }

  /** Does the work of the threads that the system did not give. */
  private void close(ScriptedQueuePair... left) {
    harness.connectThreads = Runnable::run;
    for (ScriptedQueuePair queuePair : left) {
      queuePair.close();
      harness.released.add(queuePair.qpNumber());
      harness.counters.increment(TransferCounter.QUEUE_PAIRS_CLOSED);
    }
  }

  @Test
  void tasksBehindAFailedTaskRun() {
    TestRead before = read("a", 1);
    harness.tasks.execute(
        () -> {
          throw error();
        });
    TestRead behind = read("b", 1);
    harness.run();
    harness.device.queuePairs.forEach(ScriptedQueuePair::succeedAll);
    harness.run();
    before.assertSucceeded();
    behind.assertSucceeded();
  }

  @Test
  void completionsBehindAFailedOneAreHandled() {
    read("a", 1);
    TestRead behind = read("b", 1);
    harness.run();
    queuePair(0).fail(WorkCompletionStatus.REM_ACCESS_ERR);
    queuePair(1).succeedAll();
    harness.connectThreads =
        task -> {
          throw error(); // The system gives no thread to close the queue pair.
        };
    harness.run();
    behind.assertSucceeded();
    close(queuePair(0));
  }

  @Test
  void peersBehindAFailedPostArePostedAndItsReadsAreTriedAgain() {
    harness.connectAtOnce = false;
    TestRead failed = read("a", 1);
    TestRead other = read("b", 1);
    harness.run();
    queuePair(0).postError = error();
    harness.connectAtOnce = true;
    harness.exchanges.get(0).complete(harness.device.address(1));
    harness.exchanges.get(1).complete(harness.device.address(2));
    harness.run();
    assertThat(queuePair(0).isClosed()).isTrue();
    harness.device.queuePairs.forEach(ScriptedQueuePair::succeedAll);
    harness.run();
    failed.assertSucceeded();
    other.assertSucceeded();
  }

  @Test
  void postsThatAlwaysFailOpenTheBreaker() {
    harness.device.postError = error();
    TestRead failed = read("a", 1);
    harness.run();
    failed.assertFailed(Cause.CIRCUIT_OPEN);
    harness.device.postError = null;
  }

  @Test
  void deadlinesArePassedOnWhenAnIdleQueuePairCannotBeClosed() {
    TestRead first = read("a", 1);
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    first.assertSucceeded();
    harness.connectAtOnce = false;
    TestRead late = readWithin(60_000, "b", 1);
    harness.run();
    harness.connectThreads =
        task -> {
          throw error();
        };
    harness.advanceMs(61_000);
    assertThat(late.answers).hasSize(1);
    close(queuePair(0), queuePair(1));
  }

  @Test
  void queuedResultsBehindAFailedOneAreHandedOver() {
    List<Integer> taken = new ArrayList<>();
    DeferredResults<Integer> handover =
        new DeferredResults<>(
            result -> {
              if (result == 1) {
                throw error();
              }
              taken.add(result);
            });
    List.of(0, 1, 2).forEach(handover::add);
    handover.run();
    assertThat(taken).containsExactly(0, 2);
  }
}
