// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import java.io.IOException;

/** A message cannot be encoded, or bytes are not a message. */
public final class MessageException extends IOException {
  private static final long serialVersionUID = 1L;

  public MessageException(String reason) {
    super(reason);
  }

  public MessageException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
