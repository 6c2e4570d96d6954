// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.util.Locale;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * Names by which nodes know a job and its map attempts. The node daemon has the same rules; this
 * module does not depend on it. No state; any thread.
 */
final class MapIds {
  private MapIds() {}

  /** Name of a job: that of its YARN application, and a suffix that no run of Spark has. */
  static String jobName(JobID job) {
    return String.format(
        Locale.ROOT, "application_%s_%04d-mapreduce", job.getJtIdentifier(), job.getId());
  }

  /** Number of a map attempt, unique in its job: the task's number, then the attempt's. */
  static long mapId(TaskAttemptID attempt) {
    return (long) attempt.getTaskID().getId() << Integer.SIZE | attempt.getId();
  }
}
