package dev.sluice.rdma.tools;

/** How a thread waits for completions. */
enum CompletionMode {
  /** Polls all the time: the shortest latency, for as long as the thread has a CPU of its own. */
  SPIN,

  /**
   * Polls, and offers the CPU to others between polls. Costs nothing while requests are queued, and
   * leaves the CPU to a driver that needs it, such as soft-RoCE's.
   */
  YIELD,

  /** Sleeps on the completion channel. */
  EVENTS
}
