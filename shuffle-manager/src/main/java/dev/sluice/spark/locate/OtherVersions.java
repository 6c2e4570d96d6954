// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.RateLimitedLog;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executors and node daemons that run another version of Sluice than the driver. Two versions can
 * work together during an update; otherwise they are usually a mistake. The {@link
 * LocationDirectory} makes it. The directory's thread and {@code NodeLifetimes} report processes,
 * and metrics sinks read the number. This object's lock guards all fields. A process that {@link
 * #found} has counted must come to {@link #ended}, under the same name.
 */
public final class OtherVersions {
  private static final Logger LOG = LoggerFactory.getLogger(OtherVersions.class);

  /** Number of versions to remember, so as not to warn of them again for ten minutes. */
  private static final int MAX_LOGGED = 100;

  /** The driver's version; empty if it is unknown, and then no process is reported. */
  private final String own;

  /** Versions by process. */
  private final Map<String, String> others = new HashMap<>();

  /** Processes that were asked for their version, and have not ended since. */
  private final Set<String> asked = new HashSet<>();

  private final RateLimitedLog logged = new RateLimitedLog(Duration.ofMinutes(10), MAX_LOGGED);

  public OtherVersions(String own) {
    this.own = own;
  }

  /**
   * Returns true if both versions are known and differ. An executor's runtime calls it, too. The
   * version is empty where Sluice's classes do not come from its own jars.
   */
  public static boolean differ(String version, String another) {
    return !version.isEmpty() && !another.isEmpty() && !version.equals(another);
  }

  /** Returns true if a process has to be asked for its version, which the caller then does. */
  public synchronized boolean ask(String process) {
    return asked.add(process);
  }

  /** Takes the answer of a process that was asked, unless the process has ended meanwhile. */
  public synchronized void answered(String process, String version) {
    if (asked.contains(process)) {
      found(process, version);
    }
  }

  /** Has a process asked again that did not answer. */
  public synchronized void unanswered(String process) {
    asked.remove(process);
  }

  /**
   * Takes a process's version, and warns of it if it is another one.
   *
   * @param process such as "Executor 7"
   */
  public synchronized void found(String process, String version) {
    if (!differ(own, version)) {
      others.remove(process);
      return;
    }
    others.put(process, version);
    if (logged.add(version, System.nanoTime()) > 0) {
      LOG.warn(
          "{} runs Sluice {}, but the driver runs {}. Unless nodes are being updated, use one"
              + " release for all (spark.jars, spark.executor.extraClassPath, the image, the node"
              + " daemon's folder). Other processes of that version are not logged for 10 minutes;"
              + " the metric other-versions counts them",
          process,
          version,
          own);
    }
  }

  /** Forgets a process that has ended. */
  public synchronized void ended(String process) {
    asked.remove(process);
    others.remove(process);
  }

  /** Returns the number of live processes of other versions. */
  public synchronized int count() {
    return others.size();
  }
}
