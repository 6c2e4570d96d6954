package dev.sluice.blocks.node;

import dev.sluice.blocks.RegionLimit;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.blocks.server.Stager;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.verbs.LockedMemory;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/**
 * What each of a node's applications may register: an equal part, whether the others are there or
 * not.
 *
 * @param registrationBytes of map outputs, at most
 * @param stagingBytes of copies of what is not registered, at most
 * @param applications that share the process's regions
 */
record NodeMemory(long registrationBytes, long stagingBytes, int applications) {
  /** As an executor's registry: a shuffle that nobody READ for so long makes room for others. */
  private static final long IDLE_MS = 60_000;

  private static final long LEAST_STAGING_BYTES = 4L * Stager.MAX_REQUEST_BYTES;

  /** What is configured, where nothing is locked. */
  static NodeMemory configured(NodeOptions options) {
    return new NodeMemory(
        options.registrationBytes().orElseGet(() -> machineBytes() / 2) / options.maxApplications(),
        options.stagingBytes(),
        options.maxApplications());
  }

  /**
   * What is configured, or as much of it as may be locked beside the queue pairs. Where it is so
   * little that it does not suffice for all at once, what finds no room goes by Spark's transfer.
   *
   * @throws ProviderUnavailableException where it does not suffice for one application
   */
  static NodeMemory within(LockedMemory locked, NodeOptions options)
      throws ProviderUnavailableException {
    if (!locked.allows(2 * LEAST_STAGING_BYTES)) {
      throw new ProviderUnavailableException(
          "%s, of which one application takes %d KiB at least: %s"
              .formatted(locked, 2 * LEAST_STAGING_BYTES / 1024, LockedMemory.REMEDY));
    }
    NodeMemory wanted = configured(options);
    long part = locked.allowedBytes() / wanted.applications;
    long staging = Math.clamp(part / 4, LEAST_STAGING_BYTES, wanted.stagingBytes);
    long queuePairs = Math.min(options.transferOptions().acceptedQueuePairBytes(), part / 4);
    return new NodeMemory(
        Math.clamp(part - staging - queuePairs, 0, wanted.registrationBytes),
        staging,
        wanted.applications);
  }

  /** The machine's, or the container's. */
  private static long machineBytes() {
    return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
        .getTotalMemorySize();
  }

  /**
   * @param asFiles whether map outputs are registered as open files, or else as mappings
   */
  RegistryLimits registryLimits(boolean asFiles) {
    int regions = (asFiles ? RegionLimit.FILES : RegionLimit.MAPPINGS).derive(Path.of("/"));
    return new RegistryLimits(registrationBytes, regions / applications, IDLE_MS);
  }

  @Override
  public String toString() {
    return "%d MiB of map outputs and %d MiB of copies for each of %d applications"
        .formatted(registrationBytes >> 20, stagingBytes >> 20, applications);
  }
}
