// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.chaos.inject.ChaosAgent.Order;

/**
 * Faults that can be injected into an executor, each with a probability. An {@link Order} carries
 * them; {@link ChaosAgent} decides and counts. Names that begin with CONTROL_ have a meaning: such
 * an order cuts all control connections first. A run tries a constant only if a line of {@code
 * faults.txt} names it.
 */
public enum Injection {
  /** A READ is posted with a key that the peer has not issued. */
  BAD_KEY,
  /** A READ is posted with an address outside its region. */
  BAD_ADDRESS,
  /** A queue pair goes to ERROR right after READs were posted to it. */
  READER_ERROR,
  /** A queue pair that serves a peer goes to ERROR; decided for each of them 50 times a second. */
  SERVER_ERROR,
  /** A byte is falsified after the READ and before any reader sees it. */
  CORRUPT,
  /** Posting READs takes 20 to 200 ms longer. */
  SLOW_POST,
  /** Registering memory fails with ENOMEM, for map outputs and for buffers. */
  REGISTER_ENOMEM,
  /** A shuffle that has files here is unregistered; decided once for each shuffle and order. */
  UNREGISTERED,
  /** All but a few of the victim's mappings that the kernel allows are taken. */
  MAPPINGS_TAKEN,
  /** Creating a queue pair fails with ENOMEM. */
  QUEUE_PAIR_ENOMEM,
  /** The victim is killed by another executor that has just posted READs. */
  KILL_VICTIM,
  /** The victim ends when a RESOLVE arrives, before its block server gets it. */
  HALT_BEFORE_RESOLVE,
  /** The victim ends in the middle of its answer to a RESOLVE. */
  HALT_IN_RESOLVE,
  /** The victim ends after it has answered a RESOLVE. */
  HALT_AFTER_RESOLVE,
  /** The victim is stopped when a staging request arrives, before its block server gets it. */
  STOP_BEFORE_STAGE,
  /** The victim is stopped while it copies for a staging request. */
  STOP_COPYING,
  /** The victim ends while it copies for a staging request. */
  HALT_COPYING,
  /** The victim is stopped after it has answered a staging request. */
  STOP_AFTER_STAGE,
  /** The victim is stopped after it has got locations, before it requests any block. */
  STOP_BEFORE_ASKING,
  /** The victim is stopped after it has posted READs. */
  STOP_READING,
  /** The victim is stopped after its READs have ended, before it gives a lease back. */
  STOP_AFTER_READING,
  /** The victim is stopped when a peer gives a lease back. */
  STOP_BEFORE_DONE,
  /** A staging request takes longer than a lease; later messages overtake it. */
  STAGE_LATE,
  /** The answer to a staging request takes longer than its lease; other answers do not. */
  STAGED_LATE,
  /** The message that gives a lease back is lost. */
  DONE_LOST,
  /** The message that gives a lease back is sent after the next request. */
  DONE_LATE,
  /** The message that gives a lease back is sent twice. */
  DONE_TWICE,
  /** A message with map outputs is not sent to the driver, but counts as sent. */
  PUBLISH_LOST,
  /** A message with map outputs is sent a second later. */
  PUBLISH_LATE,
  /** A message with map outputs is sent twice. */
  PUBLISH_TWICE,
  /** A request to the driver takes 0.5 to 2 s longer. */
  DRIVER_SLOW,
  /** A request to the driver fails. */
  DRIVER_UNREACHABLE,
  /** The block server's port has no listener; decided once for each order. */
  CONTROL_REFUSED,
  /** A connection to the block server is reset in the middle of a message. */
  CONTROL_RESET,
  /** A connection to the block server is accepted, but no request is answered. */
  CONTROL_HALF_OPEN,
  /** A connection to the block server passes one byte a second. */
  CONTROL_TRICKLE,
  /** Random bytes are sent between messages to the block server. */
  CONTROL_GARBAGE,
  /** A message is cut off in the middle: nothing more comes, but the connection stays open. */
  CONTROL_TRUNCATED,
  /** A message claims to be longer than the limit. */
  CONTROL_OVERSIZED,
  /** Messages are sent a second time. */
  CONTROL_REPLAYED;

  boolean isOfControlConnections() {
    return name().startsWith("CONTROL_");
  }
}
