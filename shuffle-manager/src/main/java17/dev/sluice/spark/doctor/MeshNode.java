// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import java.time.Duration;
import java.util.List;

/**
 * One node's part of the mesh: {@code ExecutorMeshNode}, or a stand-in where that cannot start. It
 * serves from its creation until it is closed. {@link MeshTask} opens it on one thread, READs on
 * the task's thread and closes it on a third: one after the other, never at once. If a call hangs,
 * the task goes on without it. {@link #failure} and {@link #mtu} may be asked after the close.
 */
public interface MeshNode extends AutoCloseable {
  /** Returns the port where it serves; 0 if it does not. */
  int port();

  /** Returns why it takes no part; empty if it does. */
  String failure();

  /** Returns the MTU of its port in bytes, once it has READ; 0 if that is not known. */
  int mtu();

  /**
   * READs from the others, one after the other, and once more from those that seem slow.
   *
   * @param limit time after which no other node is tried; the last one may take a minute more
   * @return results of the nodes that were tried: not all if the time is over, or if this node can
   *     READ from none
   */
  List<MeshRead> readFrom(List<Member> others, Duration limit);

  @Override
  void close();
}
