// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.rdma.RateLimitedLog;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Limits the warnings about refused readers, for each job and reason on its own: all reduce tasks
 * of a job come again and again. A {@link JobOpener} has one. Any thread; the caller writes the
 * log.
 */
final class RefusalLog {
  /** Limit of jobs and reasons; the one that was added longest ago is forgotten. */
  private static final int MAX = 1_000;

  private record Refusal(String job, String reason) {}

  /** Guarded by itself. */
  private final Map<Refusal, RateLimitedLog> warnings =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Refusal, RateLimitedLog> eldest) {
          return size() > MAX;
        }
      };

  /** Counts a refusal. Returns the number since the last warning if one is due, else 0. */
  long add(String job, String reason, long nowNanos) {
    synchronized (warnings) {
      return warnings
          .computeIfAbsent(new Refusal(job, reason), _ -> new RateLimitedLog())
          .add(nowNanos);
    }
  }
}
