package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CConstant;

/**
 * Whether this process may fork without its children taking registered pages away from it. Kernels
 * since 5.12 copy pinned pages for the child; before, libibverbs must mark them, and must be told
 * so before the first registration (ibv_fork_init(3)).
 */
public final class IbvFork {
  private IbvFork() {}

  /**
   * Makes forks safe (ibv_fork_init(3)); to be called before the first registration, and only where
   * {@link #status} is not UNNEEDED: the library marks pages all the same, which costs a mapping or
   * two for each region, and takes them away from children that do not execute a program.
   *
   * @throws VerbsException EINVAL when memory is registered already and the kernel needs the marks
   */
  public static void init() throws VerbsException, ProviderUnavailableException {
    LibIbverbs.LIBRARY.require();
    LibIbverbs.FORK_INIT.call();
  }

  /**
   * How it stands (ibv_is_fork_initialized(3)).
   *
   * @throws VerbsException ENOSYS with rdma-core before 35
   */
  public static IbvForkStatus status() throws VerbsException, ProviderUnavailableException {
    LibIbverbs.LIBRARY.require();
    return CConstant.of(IbvForkStatus.class, LibIbverbs.IS_FORK_INITIALIZED.call());
  }
}
