// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import java.io.IOException;

/**
 * Thrown if a message cannot be encoded, or if bytes are not a message: by {@link MessageCodec},
 * and by the ends of connections. A block server answers such bytes with a failure; a client fails
 * the request.
 */
public final class MessageException extends IOException {
  private static final long serialVersionUID = 1L;

  public MessageException(String reason) {
    super(reason);
  }

  public MessageException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
