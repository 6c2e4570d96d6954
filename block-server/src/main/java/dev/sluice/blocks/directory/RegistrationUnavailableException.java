// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import java.io.IOException;

/**
 * Thrown if map outputs cannot be registered in the requested way; tells where and why. The {@code
 * Registrar} catches it and has the map output staged. Thrown by a probe at the start, it reaches
 * the caller that opens the registry.
 */
public class RegistrationUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  public RegistrationUnavailableException(String message) {
    super(message);
  }

  public RegistrationUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
