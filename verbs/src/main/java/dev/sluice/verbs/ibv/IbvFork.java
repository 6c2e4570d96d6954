// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;

/**
 * Fork safety of registered memory: children of this process must not take its pages away. Kernels
 * since 5.12 copy pinned pages for the child. On older kernels libibverbs must mark the pages, and
 * {@link #init} must run before the first registration (ibv_fork_init(3)). It holds for the whole
 * process and cannot be undone. Any thread.
 */
public final class IbvFork {
  /** Fork safety of a process (ibv_is_fork_initialized(3)). */
  public enum Status implements CConstant {
    DISABLED,
    ENABLED,
    UNNEEDED
  }

  private IbvFork() {}

  /**
   * Makes forks safe (ibv_fork_init(3)). Call it before the first registration, and only if {@link
   * #status} is not UNNEEDED. The library marks pages even where that is unneeded. The marks cost
   * one or two mappings per region, and children that do not execute a program lose the pages.
   *
   * @throws VerbsException EINVAL if memory is registered already and the kernel needs the marks
   */
  public static void init() throws VerbsException, ProviderUnavailableException {
    LibIbverbs.Library.IBVERBS.require();
    LibIbverbs.FORK_INIT.call();
  }

  /** Returns the fork status (ibv_is_fork_initialized(3)); ENOSYS with rdma-core before 35. */
  public static CValue<Status> status() throws VerbsException, ProviderUnavailableException {
    LibIbverbs.Library.IBVERBS.require();
    return new CValue<>(Status.class, LibIbverbs.IS_FORK_INITIALIZED.call());
  }
}
