package dev.sluice.blocks;

import java.io.IOException;

/**
 * A map output's files are not what was committed: they do not fit together, have changed, or are
 * gone.
 */
public final class InconsistentFilesException extends IOException {
  private static final long serialVersionUID = 1L;

  InconsistentFilesException(String reason) {
    super(reason);
  }
}
