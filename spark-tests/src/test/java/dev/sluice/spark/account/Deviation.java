// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import java.util.Arrays;
import java.util.Set;

/**
 * Spark's suites that may do without READs, or may have blocks fetched by Spark's own transfer,
 * each with the reason. There are no other such exceptions.
 */
enum Deviation {
  NONE("", true, Set.of(), ""),
  DISK_CORRUPTION(
      "RdmaShuffleSuite",
      true,
      Set.of("CHECKSUM"),
      "its test of SPARK-36206 corrupts a data file, and expects Spark to diagnose that"),
  DISK_CORRUPTION_OF_SORT(
      "RdmaSortShuffleSuite", true, DISK_CORRUPTION.fallback, DISK_CORRUPTION.reason),
  NODE_FAILURES(
      "RdmaDistributedSuite",
      true,
      Set.of("PEER", "CONNECT", "TRANSPORT", "CIRCUIT_OPEN"),
      "its tests of node failures end executors whose blocks others want"),
  DECOMMISSION(
      "RdmaBlockManagerDecommissionIntegrationSuite",
      true,
      Set.of("PEER", "CONNECT", "TRANSPORT", "NOT_REGISTERED"),
      "its executors leave while others reduce, and their map outputs migrate"),
  MANY_PARTITIONS(
      "RdmaAdaptiveQueryExecSuite",
      true,
      Set.of("NOT_REGISTERED"),
      "its test of SPARK-48037 has 16,777,217 partitions, more than a map output may be registered"
          + " with"),
  LOCAL_FETCH(
      "RdmaAdaptiveLocalFetchSuite",
      false,
      Set.of(),
      "is the one test of AdaptiveQueryExecSuite that compares numbers of local blocks"),
  HOST_LOCAL(
      "RdmaHostLocalShuffleReadingSuite",
      false,
      Set.of(),
      "asserts that all blocks are read from the disk of the same host"),
  MAP_OUTPUT_TRACKER(
      "RdmaMapOutputTrackerSuite",
      false,
      Set.of(),
      "is about statuses and messages of the tracker; no task of it reads a block");

  private final String suite;
  private final boolean reads;
  private final Set<String> fallback;
  private final String reason;

  Deviation(String suite, boolean reads, Set<String> fallback, String reason) {
    this.suite = suite;
    this.reads = reads;
    this.fallback = fallback;
    this.reason = reason;
  }

  static Deviation of(String suite) {
    return Arrays.stream(values()).filter(d -> d.suite.equals(suite)).findFirst().orElse(NONE);
  }

  String suite() {
    return suite;
  }

  /** Tells whether blocks must be READ. */
  boolean reads() {
    return reads;
  }

  /** The fallback reasons that may occur. */
  Set<String> fallback() {
    return fallback;
  }

  String reason() {
    return reason;
  }
}
