// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.scheduler.BarrierTaskContextSuite;

/** Spark's own {@link BarrierTaskContextSuite}, which shuffles in local mode only. */
public final class RdmaBarrierTaskContextSuite extends BarrierTaskContextSuite {
  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
