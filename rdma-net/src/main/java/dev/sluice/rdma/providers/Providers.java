package dev.sluice.rdma.providers;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Provider;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsProvider;
import java.io.IOException;
import java.net.InetAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens a device of the provider that was chosen in the configuration. */
public final class Providers {
  /** The best provider that works on this machine. */
  public static final String AUTO = "auto";

  private static final Logger LOG = LoggerFactory.getLogger(Providers.class);

  private Providers() {}

  /**
   * Opens a device. Only {@code auto} may choose another provider than was asked for, and says so.
   *
   * @param choice {@code auto}, {@code verbs} or {@code soft}
   * @param localAddress the address by which peers reach this process
   * @param verbsOptions for the verbs provider
   * @param softOptions for the software provider
   * @throws ProviderUnavailableException when the chosen provider cannot work here, with the reason
   * @throws IllegalArgumentException for another choice
   */
  public static Device open(
      String choice, InetAddress localAddress, VerbsOptions verbsOptions, SoftOptions softOptions)
      throws IOException {
    Provider verbs = new VerbsProvider(verbsOptions);
    Provider soft = new SoftProvider(softOptions);
    return switch (choice) {
      case VerbsProvider.NAME -> verbs.open(localAddress);
      case SoftProvider.NAME -> soft.open(localAddress);
      case AUTO -> openFirst(verbs, soft, localAddress);
      default ->
          throw new IllegalArgumentException(
              "provider '" + choice + "' is none of auto, verbs, soft");
    };
  }

  private static Device openFirst(Provider preferred, Provider other, InetAddress localAddress)
      throws IOException {
    try {
      return preferred.open(localAddress);
    } catch (ProviderUnavailableException e) {
      LOG.info("RDMA provider is {}: {}", other.name(), e.getMessage());
      return other.open(localAddress);
    }
  }
}
