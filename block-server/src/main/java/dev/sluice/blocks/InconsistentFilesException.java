package dev.sluice.blocks;

import java.io.IOException;

/** A map output's files do not fit together: it is not registered. */
final class InconsistentFilesException extends IOException {
  private static final long serialVersionUID = 1L;

  InconsistentFilesException(String reason) {
    super(reason);
  }
}
