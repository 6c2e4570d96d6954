// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.SortShuffleSuite;

/**
 * Spark's own {@link SortShuffleSuite}, which sets its manager itself and takes nothing from system
 * properties.
 */
public final class RdmaSortShuffleSuite extends SortShuffleSuite {
  @Override
  public void beforeAll() {
    super.beforeAll();
    SuiteConf.addTo(conf());
  }

  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
