// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import dev.sluice.spark.suites.SuiteConf;
import org.apache.spark.shuffle.HostLocalShuffleReadingSuite;

/** Spark's own {@link HostLocalShuffleReadingSuite}. */
public final class RdmaHostLocalShuffleReadingSuite extends HostLocalShuffleReadingSuite {
  public RdmaHostLocalShuffleReadingSuite() {
    this(prepared());
  }

  private RdmaHostLocalShuffleReadingSuite(boolean prepared) {
    assert prepared;
  }

  /** Called before the suite's constructor, which makes its configurations. */
  private static boolean prepared() {
    SuiteConf.withoutLoopback();
    return true;
  }

  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
