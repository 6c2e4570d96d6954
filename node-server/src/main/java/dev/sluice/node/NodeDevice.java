// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.directory.RegionLimit.OpenFileLimit;
import dev.sluice.blocks.registry.IndexCache;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.verbs.LockedMemory;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA provider of a node, and limits of registered memory. The {@link NodeDaemon} tries the
 * provider out when it starts, and keeps it until it ends; {@link NodeCheck} tries it out, too.
 * Each application opens its own device. Any thread; there is nothing to close.
 *
 * @param provider {@code verbs} or {@code soft}
 * @param files limit of open files for all applications together
 * @param indexes cache of index pages for all applications together
 */
record NodeDevice(
    NodeOptions options,
    String provider,
    NodeMemory memory,
    OpenFileLimit files,
    IndexCache indexes) {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDevice.class);

  /**
   * Chooses verbs if they work and may be used, else soft. Logs the choice and its reason in one
   * line.
   *
   * @throws ProviderUnavailableException if verbs are configured by name and do not work, with the
   *     reason
   */
  static NodeDevice tryOut(NodeOptions options) throws IOException {
    if (options.get(NodeSettings.PROVIDER).equals(SoftProvider.NAME)) {
      return soft(options, NodeSettings.PROVIDER.key() + " says so");
    }
    try {
      return verbs(options);
    } catch (ProviderUnavailableException e) {
      if (options.get(NodeSettings.PROVIDER).equals(VerbsProvider.NAME)) {
        throw e;
      }
      return soft(options, String.valueOf(e.getMessage()));
    }
  }

  private static NodeDevice soft(NodeOptions options, String reason) {
    NodeDevice soft =
        new NodeDevice(
            options,
            SoftProvider.NAME,
            NodeMemory.configured(options, MachineMemory.current()),
            new OpenFileLimit(),
            IndexCache.ofNode());
    LOG.info("RDMA provider is soft: {}; {}", reason, soft.memory);
    return soft;
  }

  private static NodeDevice verbs(NodeOptions options) throws IOException {
    LockedMemory locked = LockedMemory.current();
    NodeDevice verbs =
        new NodeDevice(
            options,
            VerbsProvider.NAME,
            NodeMemory.within(locked, options, MachineMemory.current()),
            new OpenFileLimit(),
            IndexCache.ofNode());
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
                arena.allocate(PageSize.BYTES, PageSize.BYTES), Set.of(AccessFlag.REMOTE_READ))) {
      LOG.debug("A page was registered on {}", device.name());
    }
  }

  private Device open() throws IOException {
    return Providers.open(
        provider,
        InetAddress.getByName(options.host()),
        options.verbsOptions(),
        SoftOptions.DEFAULT.with(o -> o.faults = options.get(NodeSettings.SOFT_FAULTS)));
  }

  /** Opens an endpoint for one application, which closes it. */
  RdmaEndpoint openEndpoint() throws IOException {
    return RdmaEndpoint.open(
        open(),
        options.transferOptions(),
        (peer, _, _) ->
            CompletableFuture.failedFuture(
                new IOException("a node daemon READs nothing, and does not connect to " + peer)));
  }
}
