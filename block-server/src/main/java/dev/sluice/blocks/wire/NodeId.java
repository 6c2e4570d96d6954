// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

/**
 * Id by which an application's processes know the block server of a node. The node daemon makes it;
 * executors and the driver take it for the id of a peer.
 *
 * @param run changes each time that the block server starts
 * @param since changes each time that the block server begins without map outputs of the
 *     application, for example after a reboot; has no hyphen
 */
public record NodeId(String run, String since) {
  /** Reverses {@link #toString}. */
  public static NodeId parse(String id) {
    int hyphen = id.lastIndexOf('-');
    return new NodeId(id.substring(0, Math.max(hyphen, 0)), id.substring(hyphen + 1));
  }

  @Override
  public String toString() {
    return run + "-" + since;
  }
}
