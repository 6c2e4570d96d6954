// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import java.io.IOException;

/** The peer did not answer a request in time. The connection to it may still work. */
public final class LateAnswerException extends IOException {
  private static final long serialVersionUID = 1L;

  LateAnswerException(String message, Throwable cause) {
    super(message, cause);
  }
}
