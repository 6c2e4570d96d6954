// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

/**
 * Thrown when posting stops at a refused work request of a chain. Requests before {@link #badIndex}
 * are posted. The bad request and all later requests are not (the {@code bad_wr} of
 * ibv_post_send(3)). Queue pairs and shared receive queues throw it on the posting thread, in the
 * bindings and in both providers. The posted requests still complete.
 */
public final class PostException extends VerbsException {
  private static final long serialVersionUID = 1L;

  private final int badIndex;

  public PostException(String operation, int errno, String reason, int badIndex) {
    super(operation + " refused work request " + badIndex, errno, reason);
    this.badIndex = badIndex;
  }

  /** Index, in the posted list, of the first work request that was not posted. */
  public int badIndex() {
    return badIndex;
  }
}
