// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

/**
 * An attempt of a stage. {@link EventReader} makes it, and its tasks are added as they end. For one
 * thread.
 */
final class Stage {
  private final long id;
  private final long attempt;
  private final ShuffleReads reads = new ShuffleReads();
  private String name = "";
  private long submittedMs;
  private long completedMs;

  Stage(long id, long attempt) {
    this.id = id;
    this.attempt = attempt;
  }

  /**
   * Notes the name and the times of the stage.
   *
   * @param submittedMs 0 if the log lacks it
   * @param completedMs 0 if the stage has not ended
   */
  void described(String name, long submittedMs, long completedMs) {
    this.name = name;
    this.submittedMs = submittedMs;
    this.completedMs = completedMs;
  }

  /** Returns the name; empty if the log lacks it. */
  String name() {
    return name;
  }

  long id() {
    return id;
  }

  long attempt() {
    return attempt;
  }

  /** Returns sums of all of its tasks that have metrics. */
  ShuffleReads reads() {
    return reads;
  }

  /** Returns true if the log has the begin and the end. */
  boolean hasTimes() {
    return submittedMs > 0 && completedMs >= submittedMs;
  }

  long submittedMs() {
    return submittedMs;
  }

  long completedMs() {
    return completedMs;
  }
}
