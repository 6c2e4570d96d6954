// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

/** Ways in which a thread waits for completions, for {@link CompletionWait}. */
enum CompletionMode {
  /** Polls all the time. Has the shortest latency, if the thread has a CPU of its own. */
  SPIN,

  /**
   * Polls, and yields the CPU between polls. Yielding costs nothing while requests are queued, and
   * gives the CPU to a driver that needs it, such as soft-RoCE's.
   */
  YIELD,

  /** Sleeps on the completion channel. */
  EVENTS
}
