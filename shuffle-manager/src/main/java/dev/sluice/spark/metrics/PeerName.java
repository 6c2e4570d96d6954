// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Names of the processes that blocks are READ from, in the tab of Spark's UI and in the log. All
 * executors give a peer the same name, so that the driver can sum up what they report. Any thread.
 */
public final class PeerName {
  private PeerName() {}

  /** Returns the name of an executor. Spark gives some other processes an id like one. */
  public static String executor(String id, String host) {
    return (isExecutor(id) ? "executor " + id : id) + " at " + host;
  }

  public static String node(PeerAddress node) {
    return "node daemon at " + node.host() + ":" + node.port();
  }

  static String of(PeerAddress peer) {
    return isExecutor(peer.id()) ? executor(peer.id(), peer.host()) : node(peer);
  }

  private static boolean isExecutor(String id) {
    return id.matches("\\d+");
  }
}
