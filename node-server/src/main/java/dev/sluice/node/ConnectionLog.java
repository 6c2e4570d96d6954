// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.RateLimitedLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log of failed connections and refused requests at a node's socket. Any process that may connect
 * causes lines and chooses the names in them, so lines about processes that have not entered are
 * limited, and names are checked. The {@link SocketServer} has one. Threads of connections call it.
 */
final class ConnectionLog {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLog.class);

  private final RateLimitedLog refusals = new RateLimitedLog();
  private final RateLimitedLog failures = new RateLimitedLog();

  /** Logs that a connection has failed. */
  void failed(Exception e) {
    long times = failures.add(System.nanoTime());
    if (times > 0) {
      LOG.warn(
          "An executor's connection failed: {}; {} such failures since this was last logged",
          reason(e),
          times);
    }
    LOG.debug("An executor's connection failed", e);
  }

  /** Logs that an executor may not enter. */
  void refused(ProcessName executor, Exception e) {
    long times = refusals.add(System.nanoTime());
    if (times > 0) {
      boolean isNamed = NodeFolders.isName(executor.application());
      LOG.warn(
          "{} is refused: {}; {} refusals since this was last logged",
          shown(executor),
          isNamed ? reason(e) : "the name of its application cannot be a folder's name",
          times);
    }
    LOG.debug("An executor is refused", e);
  }

  /** Logs that a request of an executor that has entered is refused. */
  void refused(Object request, ProcessName executor, Exception e) {
    LOG.warn("{} of {} is refused: {}", request, shown(executor), reason(e));
    LOG.debug("A request is refused", e);
  }

  private static String shown(ProcessName executor) {
    return NodeFolders.isName(executor.application()) && NodeFolders.isName(executor.id())
        ? executor.toString()
        : "an executor with an invalid name";
  }

  /** Returns the reason in one line. */
  static String reason(Exception e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }
}
