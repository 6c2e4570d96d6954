package dev.sluice.blocks.node;

import dev.sluice.blocks.FileRoom;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.verbs.LockedMemory;
import dev.sluice.rdma.verbs.VerbsProvider;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node is READ by: a provider that was tried out when the daemon started and is the same
 * until it ends, and what may be registered with it. Each application opens a device of its own.
 * Any thread; owns nothing.
 *
 * @param provider {@code verbs} or {@code soft}
 * @param files that all applications together keep open
 */
record NodeDevice(NodeOptions options, String provider, NodeMemory memory, FileRoom files) {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDevice.class);
  private static final long PAGE_BYTES = 4096;

  /**
   * Takes verbs where they work and may be used, and says in one line what it takes, and why.
   *
   * @throws ProviderUnavailableException where verbs are asked for by name and do not work, with
   *     the reason
   */
  static NodeDevice tryOut(NodeOptions options) throws IOException {
    if (options.provider().equals(SoftProvider.NAME)) {
      return soft(options, "as it is configured");
    }
    try {
      return verbs(options);
    } catch (ProviderUnavailableException e) {
      if (options.provider().equals(VerbsProvider.NAME)) {
        throw e;
      }
      return soft(options, e.getMessage());
    }
  }

  private static NodeDevice soft(NodeOptions options, String reason) {
    NodeDevice soft =
        new NodeDevice(options, SoftProvider.NAME, NodeMemory.configured(options), new FileRoom());
    LOG.info("RDMA provider is soft: {}; {}", reason, soft.memory);
    return soft;
  }

  private static NodeDevice verbs(NodeOptions options) throws IOException {
    LockedMemory locked = LockedMemory.current();
    NodeDevice verbs =
        new NodeDevice(
            options, VerbsProvider.NAME, NodeMemory.within(locked, options), new FileRoom());
    String device;
    try (Device opened = verbs.open()) {
      device = opened.name();
      registerPage(opened);
    } catch (VerbsException e) {
      throw new ProviderUnavailableException(e.getMessage());
    }
    LOG.info("RDMA provider is verbs, device {}, {}; {}", device, locked, verbs.memory);
    return verbs;
  }

  private static void registerPage(Device device) throws VerbsException {
    try (Arena arena = Arena.ofShared();
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion _ =
            domain.register(
                arena.allocate(PAGE_BYTES, PAGE_BYTES), Set.of(AccessFlag.REMOTE_READ))) {
      LOG.debug("A page was registered on {}", device.name());
    }
  }

  private Device open() throws IOException {
    return Providers.open(
        provider,
        InetAddress.getByName(options.host()),
        options.verbsOptions(),
        SoftOptions.DEFAULT);
  }

  /** For one application, which closes it. */
  RdmaEndpoint openEndpoint() throws IOException {
    return RdmaEndpoint.open(
        open(),
        options.transferOptions(),
        (peer, _, _) ->
            CompletableFuture.failedFuture(new IOException("a node READs nothing of " + peer)));
  }
}
