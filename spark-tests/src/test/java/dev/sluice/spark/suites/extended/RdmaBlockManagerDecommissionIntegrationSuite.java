// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import dev.sluice.spark.suites.SuiteConf;
import org.apache.spark.storage.BlockManagerDecommissionIntegrationSuite;

/** Spark's own {@link BlockManagerDecommissionIntegrationSuite}. */
public final class RdmaBlockManagerDecommissionIntegrationSuite
    extends BlockManagerDecommissionIntegrationSuite {
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
