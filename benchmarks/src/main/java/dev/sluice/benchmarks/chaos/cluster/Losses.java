package dev.sluice.benchmarks.chaos.cluster;

/**
 * What Spark had to do twice.
 *
 * @param stageRetries stages that were run again
 * @param fetchFailures tasks that ended with a FetchFailedException
 * @param failedTasks tasks that ended with another exception
 * @param executors executors that ended meanwhile
 */
public record Losses(int stageRetries, int fetchFailures, int failedTasks, int executors) {
  public static final Losses NONE = new Losses(0, 0, 0, 0);

  public int withoutRetries() {
    return fetchFailures + failedTasks + executors;
  }
}
