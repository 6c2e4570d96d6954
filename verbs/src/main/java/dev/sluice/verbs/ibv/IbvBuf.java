// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that the device's driver allocated for registration: {@code struct ibv_buf}
 * (ibv_alloc_buf(3)). {@link IbvPd#allocBuf} creates it, and its domain closes it, after regions. A
 * caller closes the regions of the buffer first: C cannot refuse. Any thread.
 */
public final class IbvBuf extends NativeObject {
  /** Ends when the memory is freed, so that later accesses throw. */
  private final Arena lifetime = Arena.ofShared();

  private final MemorySegment memory;

  @SuppressWarnings("restricted")
  IbvBuf(IbvPd pd, MemorySegment pointer, MemorySegment address, long size) {
    super("buffer", pd, pointer, LibIbverbs.FREE_BUF::invoke, 3);
    memory = address.reinterpret(size, lifetime, null);
  }

  /** Returns the buffer's memory, which begins at a page. Unusable after {@link #close}. */
  public MemorySegment memory() {
    struct(); // throws once the buffer is closed
    return memory;
  }

  /**
   * Returns a new file descriptor of the DMA-BUF behind the buffer (ibv_export_buf_dmabuf_fd(3)).
   * The caller closes it.
   *
   * @throws VerbsException ENODATA if the buffer is ordinary memory, ENOSYS with rdma-core before
   *     65
   */
  public int exportDmabufFd() throws VerbsException {
    return LibIbverbs.EXPORT_BUF_DMABUF_FD.call(pointer());
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    try {
      lifetime.close();
    } catch (IllegalStateException e) {
      throw failure("ibv_free_buf", VerbsException.EBUSY, String.valueOf(e.getMessage()));
    }
    super.destroy(pointer);
  }
}
