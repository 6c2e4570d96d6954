// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.leak;

import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test that leaves a resource open, and reports the stack that opened it. */
public final class LeakCheck implements BeforeEachCallback, AfterEachCallback {
  private LeakTracker tracker;

  @Override
  public void beforeEach(ExtensionContext context) {
    tracker = new LeakTracker();
  }

  /** Returns the tracker of the running test. */
  public LeakTracker tracker() {
    return tracker;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    assertNothingOpen(tracker);
  }

  static void assertNothingOpen(LeakTracker tracker) {
    List<LeakTracker.Handle> open = tracker.open();
    if (!open.isEmpty()) {
      AssertionError error = new AssertionError("left open: " + open);
      open.forEach(handle -> error.addSuppressed(handle.opener()));
      throw error;
    }
  }
}
