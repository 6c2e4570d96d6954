package dev.sluice.blocks;

import java.io.IOException;

/** A map output finds no room in the registration budget, or the provider registers no more. */
final class NoRoomException extends IOException {
  private static final long serialVersionUID = 1L;

  NoRoomException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
