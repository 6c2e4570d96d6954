package dev.sluice.spark;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The providers by the names that the configuration has for them. */
final class Providers {
  private static final Logger LOG = LoggerFactory.getLogger(Providers.class);

  /** Where addresses are translated, the one that peers reach is none of this machine's. */
  private static final InetAddress ANY_ADDRESS = new InetSocketAddress(0).getAddress();

  private Providers() {}

  /**
   * Opens the device of the provider that was asked for; for {@code auto} of the first that works.
   *
   * @param faults what the software provider injects
   * @param localAddress the address by which peers reach this process
   * @throws ProviderUnavailableException when this machine cannot, with the reason
   */
  static Device open(String provider, FaultPlan faults, InetAddress localAddress)
      throws IOException {
    return switch (provider) {
      case "verbs" -> openVerbs();
      case "soft" -> openSoft(faults, localAddress);
      default -> openAny(faults, localAddress);
    };
  }

  private static Device openAny(FaultPlan faults, InetAddress localAddress) throws IOException {
    try {
      return openVerbs();
    } catch (ProviderUnavailableException e) {
      LOG.info("Software RDMA is used, because {}", e.getMessage());
      return openSoft(faults, localAddress);
    }
  }

  private static Device openVerbs() throws ProviderUnavailableException {
    throw new ProviderUnavailableException("this version has no verbs provider");
  }

  private static Device openSoft(FaultPlan faults, InetAddress localAddress) throws IOException {
    SoftOptions options = SoftOptions.DEFAULT.withFaults(faults);
    boolean translated = NetworkInterface.getByInetAddress(localAddress) == null;
    return new SoftProvider(translated ? options.withBindAddress(ANY_ADDRESS) : options)
        .open(localAddress);
  }
}
