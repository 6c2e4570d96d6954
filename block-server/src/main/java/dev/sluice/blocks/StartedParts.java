// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes parts in reverse order of their start, even if closing one of them fails. A part starts
 * after the parts that it uses. An executor's runtime, a node daemon and each of its applications
 * have one, and close it. Not thread-safe: the owner starts all parts before other threads get the
 * owner, or holds its lock. One thread closes it, later.
 */
public final class StartedParts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StartedParts.class);

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Adds a part, which is closed before those that were started earlier. */
  public <T extends AutoCloseable> T started(T part) {
    parts.push(part);
    return part;
  }

  /** Idempotent. */
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception | Error e) { // An Error, too, must not leave the other parts open.
        LOG.warn("Closing {} failed", part.getClass().getSimpleName(), e);
      }
    }
  }
}
