// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import dev.sluice.spark.suites.SuiteConf;
import org.apache.spark.sql.execution.adaptive.AdaptiveQueryExecSuite;
import scala.collection.immutable.Map;
import scala.collection.immutable.Set;

/** {@link LocalFetchTest} of Spark's own {@link AdaptiveQueryExecSuite}. */
public final class RdmaAdaptiveLocalFetchSuite extends AdaptiveQueryExecSuite {
  @Override
  public Map<String, Set<String>> tags() {
    return LocalFetchTest.alone(this, super.tags());
  }

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
