// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.MapOutputTrackerSuite;

/** Spark's own {@link MapOutputTrackerSuite}. */
public final class RdmaMapOutputTrackerSuite extends MapOutputTrackerSuite {
  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
