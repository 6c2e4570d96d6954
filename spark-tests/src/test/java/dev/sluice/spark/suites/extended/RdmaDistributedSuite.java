// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import dev.sluice.spark.suites.SuiteConf;
import org.apache.spark.DistributedSuite;

/** Spark's own {@link DistributedSuite}. */
public final class RdmaDistributedSuite extends DistributedSuite {
  @Override
  public void beforeAll() {
    SuiteConf.withoutLoopback();
    super.beforeAll();
  }

  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
