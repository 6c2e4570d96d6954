// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;

/** Status of a reduce task. Hadoop's own class is not public. */
final class ReduceStatus extends TaskStatus {
  @Override
  public boolean getIsMap() {
    return false;
  }

  @Override
  public void addFetchFailedMap(TaskAttemptID map) {}
}
