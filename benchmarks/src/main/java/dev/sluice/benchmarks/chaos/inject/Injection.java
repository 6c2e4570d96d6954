package dev.sluice.benchmarks.chaos.inject;

/** What can be made to go wrong inside an executor, each with a probability. */
public enum Injection {
  /** A READ is posted with a key that the peer has not given out. */
  BAD_KEY,
  /** A READ is posted with an address outside its region. */
  BAD_ADDRESS,
  /** A queue pair goes to ERROR right after READs were posted to it. */
  READER_ERROR,
  /** A queue pair that serves a peer goes to ERROR; drawn for each of them 50 times a second. */
  SERVER_ERROR,
  /** A byte that was READ is falsified before anybody looks at it. */
  CORRUPT,
  /** Posting READs takes 20 to 200 ms longer. */
  SLOW_POST,
  /** Registering memory fails with ENOMEM, that of map outputs as that of buffers. */
  REGISTER_ENOMEM,
  /** A shuffle that has files here is unregistered; drawn once for each, and each order. */
  UNREGISTERED,
  /** The victim has as many mappings as the kernel allows, but for a few. */
  MAPPINGS_TAKEN,
  /** Creating a queue pair fails with ENOMEM. */
  QUEUE_PAIR_ENOMEM,
  /** The victim is killed by another executor that has just posted READs. */
  KILL_VICTIM,
  /** The victim ends when a RESOLVE arrives, before its block server has it. */
  HALT_BEFORE_RESOLVE,
  /** The victim ends in the middle of its answer to a RESOLVE. */
  HALT_IN_RESOLVE,
  /** The victim ends when it has answered a RESOLVE. */
  HALT_AFTER_RESOLVE,
  /** The victim is stopped when a request to stage arrives, before its block server has it. */
  STOP_BEFORE_STAGE,
  /** The victim is stopped when it has been at a request to stage for a while. */
  STOP_COPYING,
  /** The victim ends when it has been at a request to stage for a while. */
  HALT_COPYING,
  /** The victim is stopped when it has answered a request to stage. */
  STOP_AFTER_STAGE,
  /** The victim is stopped when it knows what there is, before it asks for any of it. */
  STOP_BEFORE_ASKING,
  /** The victim is stopped when it has posted READs. */
  STOP_READING,
  /** The victim is stopped when its READs have ended, before it gives a lease back. */
  STOP_AFTER_READING,
  /** The victim is stopped when it is told that a lease is not needed any more. */
  STOP_BEFORE_DONE,
  /** A request to stage takes longer than a lease; what is asked after it comes before it. */
  STAGE_LATE,
  /** The answer to a request to stage takes longer than its lease, and so do no others. */
  STAGED_LATE,
  /** Nobody is told that a lease is not needed any more. */
  DONE_LOST,
  /** That is said after what is asked next. */
  DONE_LATE,
  /** That is said twice. */
  DONE_TWICE,
  /** A message with map outputs is not sent to the driver, and counts as sent. */
  PUBLISH_LOST,
  /** A message with map outputs is sent a second later. */
  PUBLISH_LATE,
  /** A message with map outputs is sent twice. */
  PUBLISH_TWICE,
  /** A question to the driver takes half a second to two seconds longer. */
  DRIVER_SLOW,
  /** A question to the driver fails. */
  DRIVER_UNREACHABLE,
  /** Nobody listens for connections to the block server; drawn once for each order. */
  CONTROL_REFUSED,
  /** A connection to the block server is reset in the middle of a message. */
  CONTROL_RESET,
  /** A connection to the block server is accepted, and nothing is ever answered. */
  CONTROL_HALF_OPEN,
  /** A connection to the block server passes one byte a second. */
  CONTROL_TRICKLE,
  /** Random bytes come between the messages to the block server. */
  CONTROL_GARBAGE,
  /** A message ends in its middle: nothing more comes, and the connection stays. */
  CONTROL_TRUNCATED,
  /** A message claims to be longer than any may be. */
  CONTROL_OVERSIZED,
  /** Messages come a second time. */
  CONTROL_REPLAYED;

  boolean isOfControlConnections() {
    return name().startsWith("CONTROL_");
  }
}
