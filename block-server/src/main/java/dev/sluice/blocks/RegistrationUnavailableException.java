package dev.sluice.blocks;

import java.io.IOException;

/**
 * Map outputs cannot be registered, now or in the way that was asked for; the message says where
 * and why.
 */
public final class RegistrationUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  RegistrationUnavailableException(String message) {
    super(message);
  }

  RegistrationUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
