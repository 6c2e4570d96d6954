// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.providers;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Provider;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.net.InetAddress;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a device of the configured provider, at the start of an executor, for each application of a
 * node daemon, and for the doctor. Any thread. The caller closes the device.
 */
public final class Providers {
  /** Selects the best provider that works on this machine. */
  public static final String AUTO = "auto";

  private static final Logger LOG = LoggerFactory.getLogger(Providers.class);

  private Providers() {}

  /**
   * Opens a device. Only {@code auto} may fall back to another provider, and logs that.
   *
   * @param choice {@code auto}, {@code verbs} or {@code soft}
   * @param localAddress the address at which peers reach this process
   * @param verbsOptions for the verbs provider
   * @param softOptions for the software provider
   * @throws ProviderUnavailableException if the chosen provider cannot work here, with the reason
   * @throws IllegalArgumentException for another choice
   */
  public static Device open(
      String choice, InetAddress localAddress, VerbsOptions verbsOptions, SoftOptions softOptions)
      throws IOException {
    return open(choice, localAddress, verbsOptions, softOptions, _ -> {});
  }

  /**
   * Opens a device as {@link #open(String, InetAddress, VerbsOptions, SoftOptions)} does.
   *
   * @param refused takes the reason why {@code auto} does not use a better provider
   */
  public static Device open(
      String choice,
      InetAddress localAddress,
      VerbsOptions verbsOptions,
      SoftOptions softOptions,
      Consumer<String> refused)
      throws IOException {
    Provider verbs = new VerbsProvider(verbsOptions);
    Provider soft = new SoftProvider(softOptions);
    return switch (choice) {
      case VerbsProvider.NAME -> verbs.open(localAddress);
      case SoftProvider.NAME -> soft.open(localAddress);
      case AUTO -> openFirst(verbs, soft, localAddress, refused);
      default ->
          throw new IllegalArgumentException(
              "provider '" + choice + "' is not one of auto, verbs, soft");
    };
  }

  private static Device openFirst(
      Provider preferred, Provider other, InetAddress localAddress, Consumer<String> refused)
      throws IOException {
    try {
      return preferred.open(localAddress);
    } catch (ProviderUnavailableException e) {
      LOG.info("RDMA provider is {}: {}", other.name(), e.getMessage());
      refused.accept(String.valueOf(e.getMessage()));
      return other.open(localAddress);
    }
  }
}
