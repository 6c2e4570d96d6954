// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Failure to READ from a node. Its map outputs are fetched by HTTP, and counted by the reason. */
public final class NodeReadException extends IOException {
  private static final long serialVersionUID = 1L;

  private final HttpReason reason;

  public NodeReadException(HttpReason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public HttpReason reason() {
    return reason;
  }
}
