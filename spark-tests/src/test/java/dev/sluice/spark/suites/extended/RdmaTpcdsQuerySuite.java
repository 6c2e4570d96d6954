// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.sql.TPCDSQueryTestSuite;

/**
 * Spark's own {@link TPCDSQueryTestSuite}: the TPC-DS queries against their golden answers, each
 * with three kinds of join. Ignored unless SPARK_TPCDS_DATA names a directory with the tables.
 *
 * <p>It shuffles to one partition, so a block is all of a map output. Blocks larger than any buffer
 * are READ to disk, as Spark does with blocks that it calls large.
 */
public final class RdmaTpcdsQuerySuite extends TPCDSQueryTestSuite {
  @Override
  public void beforeAll() {
    // Buffers are up to 32 MiB with this value, and up to 8 MiB with Spark's default.
    System.setProperty("spark.executor.memoryOverhead", "8g");
    System.setProperty("spark.network.maxRemoteBlockSizeFetchToMem", "16m");
    super.beforeAll();
  }

  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
