// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.sql.execution.CoalesceShufflePartitionsSuite;

/** Spark's own {@link CoalesceShufflePartitionsSuite}. */
public final class RdmaCoalesceShufflePartitionsSuite extends CoalesceShufflePartitionsSuite {
  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
