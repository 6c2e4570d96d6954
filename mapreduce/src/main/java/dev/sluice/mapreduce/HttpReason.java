// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

/**
 * Reason why a map output was fetched by Hadoop's HTTP and not READ. Each is a job counter of this
 * name, so names stay. Reasons that executors of Spark have too ({@code spark.shuffle.rdma}
 * metrics) have the same names.
 */
public enum HttpReason {
  /** The reduce task runs on a Java version below 21. */
  JAVA,
  /** This machine or this configuration cannot READ; the task's log says why. */
  OFF,
  /**
   * Hadoop encrypts its shuffle ({@code mapreduce.shuffle.ssl.enabled}), and READs are not
   * encrypted.
   */
  WIRE_ENCRYPTION,
  /** The node has no node daemon that knows the job, or one of another provider. */
  PEER,
  /**
   * The node does not have the map output, its disk does not answer, or its files are damaged or
   * another user's.
   */
  NOT_REGISTERED,
  /** The partition has 4 GiB or more when it is decompressed. */
  SIZE,
  /** The node did not register the map output, or did not stage the bytes, in time. */
  STAGING,
  /** The map output was replaced, or the node daemon was started again. */
  STALE_LOCATION,
  /** No queue pair could be connected. */
  CONNECT,
  /** The READ failed, also on a fresh queue pair. */
  TRANSPORT,
  /** The READ did not end by its deadline. */
  DEADLINE,
  /** READs from the node failed so often that it is not tried for some time. */
  CIRCUIT_OPEN,
  /** No buffer became free in time. */
  BUFFERS,
  /**
   * The bytes that were READ are not a map output, as a checksum or the codec says, or could not be
   * written to the local disk.
   */
  CHECKSUM,
  /** Hadoop fetched it together with others of its host, before anybody tried to READ it. */
  WITH_OTHERS
}
