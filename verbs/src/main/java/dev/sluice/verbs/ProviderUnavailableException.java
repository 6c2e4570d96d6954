// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.io.IOException;

/**
 * Thrown when a provider cannot work on this machine: a library, a device, a permission, a usable
 * port or enough lockable memory is missing. The message has reason and remedy. With the provider
 * {@code auto}, {@code Providers} catches it in executors and {@code NodeDevice} in the node
 * daemon, and they fall back to {@code soft}. The doctor reports it. Otherwise it reaches the user.
 */
public final class ProviderUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  public ProviderUnavailableException(String message) {
    super(message);
  }
}
