package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import dev.sluice.spark.suites.SuiteConf;
import org.apache.spark.scheduler.BarrierTaskContextSuite;

/** Spark's own {@link BarrierTaskContextSuite}. */
public final class RdmaBarrierTaskContextSuite extends BarrierTaskContextSuite {
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
