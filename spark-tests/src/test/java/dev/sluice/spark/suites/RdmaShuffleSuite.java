// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.ShuffleSuite;

/** Spark's own {@link ShuffleSuite}. Its configuration takes nothing from system properties. */
public final class RdmaShuffleSuite extends ShuffleSuite {
  @Override
  public void beforeAll() {
    SuiteConf.withoutLoopback();
    super.beforeAll();
    SuiteConf.addTo(conf());
  }

  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
