// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

/**
 * Sums of Spark's metrics of tasks that read shuffles. {@link EventReader} fills one for each task,
 * and adds it to those of a {@link Stage} and of the {@link Application}. For one thread.
 */
final class ShuffleReads {
  private long tasks;
  private long runMs;
  private long records;
  private long localBlocks;
  private long remoteBlocks;
  private long mergedBlocks;
  private long localBytes;
  private long remoteBytes;
  private long waitMs;
  private boolean countsBlocks = true;

  void add(ShuffleReads other) {
    tasks += other.tasks;
    runMs += other.runMs;
    records += other.records;
    localBlocks += other.localBlocks;
    remoteBlocks += other.remoteBlocks;
    mergedBlocks += other.mergedBlocks;
    localBytes += other.localBytes;
    remoteBytes += other.remoteBytes;
    waitMs += other.waitMs;
    countsBlocks &= other.countsBlocks;
  }

  /** Notes the run time of a task that has metrics. */
  void ran(long ms) {
    tasks++;
    runMs += ms;
  }

  /** Notes a number of the event log by its name there; others are ignored. */
  void note(String name, long value) {
    switch (name) {
      case "Total Records Read" -> records = value;
      case "Local Blocks Fetched" -> localBlocks = value;
      case "Remote Blocks Fetched" -> remoteBlocks = value;
      case "Merged Local Blocks Fetched", "Merged Remote Blocks Fetched" -> mergedBlocks += value;
      case "Local Bytes Read" -> localBytes = value;
      case "Remote Bytes Read" -> remoteBytes = value;
      case "Fetch Wait Time" -> waitMs = value;
      default -> {}
    }
  }

  /** Notes that a task has read records, and the log lacks the number of their blocks. */
  void lacksBlocks() {
    countsBlocks = false;
  }

  /** Returns true if a shuffle has been read. */
  boolean isAny() {
    return blocks() + bytes() + records > 0;
  }

  /** Returns false if the log lacks the number of the blocks. */
  boolean countsBlocks() {
    return countsBlocks;
  }

  /** Returns the number of tasks with metrics. */
  long tasks() {
    return tasks;
  }

  double taskSeconds() {
    return runMs / 1e3;
  }

  long records() {
    return records;
  }

  long localBlocks() {
    return localBlocks;
  }

  long remoteBlocks() {
    return remoteBlocks;
  }

  /** Returns the number of those blocks that push-based shuffle has merged. */
  long mergedBlocks() {
    return mergedBlocks;
  }

  long blocks() {
    return localBlocks + remoteBlocks;
  }

  long remoteBytes() {
    return remoteBytes;
  }

  long bytes() {
    return localBytes + remoteBytes;
  }

  double waitSeconds() {
    return waitMs / 1e3;
  }
}
