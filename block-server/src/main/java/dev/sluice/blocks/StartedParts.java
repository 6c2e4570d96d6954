package dev.sluice.blocks;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parts that were started in the order in which they need each other, and are closed in the reverse
 * one, whatever closing another one throws. Not thread-safe; whoever started the parts closes it.
 */
public final class StartedParts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StartedParts.class);

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Has the part closed before those that were started earlier. */
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
      } catch (Exception e) {
        LOG.warn("Closing {} failed", part.getClass().getSimpleName(), e);
      }
    }
  }
}
