// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.sql.DataFrameAggregateSuite;

/** Spark's own {@link DataFrameAggregateSuite}. */
public final class RdmaDataFrameAggregateSuite extends DataFrameAggregateSuite {
  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
