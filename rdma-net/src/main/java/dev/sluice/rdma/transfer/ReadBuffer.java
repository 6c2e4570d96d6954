// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.lang.foreign.MemorySegment;

/**
 * Memory for bytes that are READ. Its owner releases it once. READs write to {@link PooledBuffer}s;
 * readers may keep the bytes in other memory afterwards.
 */
public interface ReadBuffer {
  MemorySegment segment();

  void release();
}
