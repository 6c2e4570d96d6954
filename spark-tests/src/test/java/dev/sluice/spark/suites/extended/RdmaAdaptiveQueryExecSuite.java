package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.sql.execution.adaptive.AdaptiveQueryExecSuite;

/** Spark's own {@link AdaptiveQueryExecSuite}. */
public final class RdmaAdaptiveQueryExecSuite extends AdaptiveQueryExecSuite {
  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
