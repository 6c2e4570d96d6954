// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import java.io.IOException;

/**
 * Thrown if a map output's files do not fit together, or have changed or gone since the commit. At
 * registration, the {@code Registrar} counts the map output as rejected, and it goes by Spark's own
 * transfer. For a staged table, the stager tells the reader that its location is stale.
 */
public final class InconsistentFilesException extends IOException {
  private static final long serialVersionUID = 1L;

  public InconsistentFilesException(String reason) {
    super(reason);
  }
}
