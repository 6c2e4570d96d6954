// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import dev.sluice.spark.suites.SuiteConf;
import org.apache.spark.shuffle.HostLocalShuffleReadingSuite;

/** Spark's own {@link HostLocalShuffleReadingSuite}. */
public final class RdmaHostLocalShuffleReadingSuite extends HostLocalShuffleReadingSuite {
  public RdmaHostLocalShuffleReadingSuite() {
    // The suite makes its configurations in its constructor.
    SuiteConf.withoutLoopback();
    super();
  }

  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
