// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.directory.RegionLimit;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.rdma.verbs.LockedMemory;
import dev.sluice.verbs.ProviderUnavailableException;
import java.nio.file.Path;

/**
 * Memory that each of a node's applications may register: an equal part, even if the others are not
 * there. {@link NodeDevice} makes it at the start.
 *
 * @param registrationBytes limit of bytes of registered map outputs
 * @param stagingBytes limit of bytes of staged copies
 * @param applications number of applications that share the process's regions
 */
record NodeMemory(long registrationBytes, long stagingBytes, int applications) {
  /** As in an executor's registry: shuffles without READs for this time make room for others. */
  private static final long IDLE_MS = 60_000;

  /** The least that a {@link Stager} works with. */
  private static final long LEAST_STAGING_BYTES = 4L * Stager.MAX_REQUEST_BYTES;

  /** Memory as configured, else a share of the free memory. Ignores the limit of locked memory. */
  static NodeMemory configured(NodeOptions options, MachineMemory machine) {
    int applications = options.get(NodeSettings.MAX_APPLICATIONS);
    long bytes =
        options
            .get(NodeSettings.REGISTRATION_MAX_BYTES)
            .orElseGet(machine::defaultRegistrationBytes);
    return new NodeMemory(
        bytes / applications, options.get(NodeSettings.STAGING_MAX_BYTES), applications);
  }

  /**
   * Memory as configured, reduced to the part that may be locked in addition to the queue pairs. If
   * the limit is too low for all applications together, blocks without room go by Spark's transfer.
   *
   * @throws ProviderUnavailableException if the limit is too low for one application
   */
  static NodeMemory within(LockedMemory locked, NodeOptions options, MachineMemory machine)
      throws ProviderUnavailableException {
    if (!locked.allows(2 * LEAST_STAGING_BYTES)) {
      throw new ProviderUnavailableException(
          "%s, but one application needs at least %d KiB: %s"
              .formatted(locked, 2 * LEAST_STAGING_BYTES / 1024, LockedMemory.REMEDY));
    }
    NodeMemory wanted = configured(options, machine);
    long part = locked.allowedBytes() / wanted.applications;
    long staging = Math.clamp(part / 4, LEAST_STAGING_BYTES, wanted.stagingBytes);
    long queuePairs = Math.min(options.transferOptions().acceptedQueuePairBytes(), part / 4);
    return new NodeMemory(
        Math.clamp(part - staging - queuePairs, 0, wanted.registrationBytes),
        staging,
        wanted.applications);
  }

  /**
   * @param asFiles true if map outputs are registered as open files, false if as mappings
   */
  RegistryLimits registryLimits(boolean asFiles) {
    int regions = (asFiles ? RegionLimit.FILES : RegionLimit.MAPPINGS).derive(Path.of("/"));
    return new RegistryLimits(registrationBytes, regions / applications, IDLE_MS);
  }

  @Override
  public String toString() {
    return "%d MiB of map outputs and %d MiB of staging memory for each of %d applications"
        .formatted(registrationBytes >> 20, stagingBytes >> 20, applications);
  }
}
