// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import java.io.IOException;

/** The peer was not asked: it did not answer earlier requests to stage in time. */
public final class CircuitOpenException extends IOException {
  private static final long serialVersionUID = 1L;

  CircuitOpenException(String message) {
    super(message);
  }
}
