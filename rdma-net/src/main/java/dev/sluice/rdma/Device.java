// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * An open device with its chosen port (ibv_open_device(3)). Any thread. The caller of {@link
 * Provider#open} closes it, or gives it to an endpoint. Closing it closes its remaining children,
 * in reverse order of their creation.
 */
public interface Device extends AutoCloseable {
  /** Name of the provider: {@code verbs} or {@code soft}. */
  String providerName();

  /** Name of the device, such as {@code mlx5_0}. */
  String name();

  DeviceAttributes attributes();

  /** GID at which peers reach this port. */
  Gid gid();

  ProtectionDomain allocateProtectionDomain() throws VerbsException;

  CompletionChannel createCompletionChannel() throws VerbsException;

  /**
   * @param entries minimum number of completions that the queue must hold (ibv_create_cq(3))
   * @param channel channel on which the queue announces completions; null for a queue that is only
   *     polled
   * @throws VerbsException EINVAL for less than 1 entry or more than the device allows, ENOMEM at a
   *     limit
   */
  CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel)
      throws VerbsException;

  @Override
  void close();
}
