package dev.sluice.rdma;

import java.io.IOException;

/** A provider that cannot work on this machine; the message says why and what to do. */
public final class ProviderUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  public ProviderUnavailableException(String message) {
    super(message);
  }
}
