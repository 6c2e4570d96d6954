// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.sql.execution.ExchangeSuite;

/** Spark's own {@link ExchangeSuite}. */
public final class RdmaExchangeSuite extends ExchangeSuite {
  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
