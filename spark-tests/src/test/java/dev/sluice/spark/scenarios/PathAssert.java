// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;

/** Asserts the path that an application's blocks took. */
public final class PathAssert {
  private PathAssert() {}

  /** Every block from another executor was READ, and there were some. */
  public static void allRead(LocalCluster cluster) {
    allRead(cluster, cluster.totals());
  }

  /**
   * The same of another manager that is built on {@code RdmaShuffle}.
   *
   * @param totals what the manager counted
   */
  public static void allRead(LocalCluster cluster, Totals totals) {
    assertThat(totals.fallbackByReason()).isEmpty();
    assertThat(totals.read())
        .as("%s", cluster.metrics())
        .isPositive()
        .isEqualTo(cluster.metrics().remoteBlocks());
    assertThat(totals.readBytes()).isEqualTo(cluster.metrics().remoteBytes());
  }

  /** Every block from another executor was READ, and no byte of it from staging memory. */
  static void noneStaged(LocalCluster cluster) {
    allRead(cluster);
    assertThat(cluster.totals().stagedBytes()).isZero();
  }

  /** Every block from another executor was READ, and every byte of it from staging memory. */
  static void allStaged(LocalCluster cluster) {
    allRead(cluster);
    assertThat(cluster.totals().stagedBytes()).isEqualTo(cluster.metrics().remoteBytes());
  }

  /**
   * Every block from another executor was READ, some from their files, some from staging memory.
   */
  public static void partlyStaged(LocalCluster cluster) {
    allRead(cluster);
    assertThat(cluster.totals().stagedBytes()).isBetween(1L, cluster.metrics().remoteBytes() - 1);
  }

  /** Every block from another executor went by Spark's own transfer, for this reason only. */
  static void allFellBack(LocalCluster cluster, String reason) {
    Totals totals = cluster.totals();
    assertThat(totals.read()).isZero();
    assertThat(totals.fallbackByReason()).as("%s", cluster.metrics()).containsOnlyKeys(reason);
    assertThat(totals.fallback()).isEqualTo(cluster.metrics().remoteBlocks());
  }
}
