// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import dev.sluice.spark.account.BlockAccount;
import org.apache.spark.sql.execution.adaptive.AdaptiveQueryExecSuite;
import scala.collection.immutable.Map;
import scala.collection.immutable.Set;

/** Spark's own {@link AdaptiveQueryExecSuite}, without {@link LocalFetchTest}. */
public final class RdmaAdaptiveQueryExecSuite extends AdaptiveQueryExecSuite {
  @Override
  public Map<String, Set<String>> tags() {
    return LocalFetchTest.ignored(this, super.tags());
  }

  @Override
  public void afterAll() {
    super.afterAll();
    BlockAccount.settle(getClass());
  }
}
