package dev.sluice.blocks.wire;

import java.io.IOException;

/** A message that cannot be encoded, or bytes that are none. */
public final class MessageException extends IOException {
  private static final long serialVersionUID = 1L;

  public MessageException(String reason) {
    super(reason);
  }

  public MessageException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
