// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.cluster;

/**
 * Work that Spark had to repeat. {@link Stages} counts it; {@code ChaosRun} judges it.
 *
 * @param stageRetries stages that were run again
 * @param fetchFailures tasks that ended with a FetchFailedException
 * @param failedTasks tasks that ended with another exception
 * @param executors executors that were lost
 */
public record Losses(int stageRetries, int fetchFailures, int failedTasks, int executors) {
  public static final Losses NONE = new Losses(0, 0, 0, 0);

  public int withoutRetries() {
    return fetchFailures + failedTasks + executors;
  }
}
