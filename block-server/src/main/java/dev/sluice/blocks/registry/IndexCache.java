// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cache of pages of a registry's {@link IndexTable}s, so that reducers of adjoining partitions do
 * not open the same files again and again. An executor has one, a node daemon one for all its
 * applications together. Any thread. The lock is held for map operations only, never while a file
 * is read. Holds heap only, up to a limit; beyond it the least recently used pages are dropped.
 * Reading a dropped page again costs two reads of 2 KiB.
 *
 * <p>One reducer needs one page of each staged map output, whatever its number of partitions: 530
 * KB for 100 map outputs.
 */
public final class IndexCache {
  /** Minimum of the limit: 1,600 pages. */
  private static final long LEAST_BYTES = 8 << 20;

  /**
   * Divisor of the heap for the limit. A heap of 9 GB has room for 13,000 pages: those that 3,200
   * tasks at a time need of 1,000 map outputs.
   */
  private static final int PARTS = 128;

  /** The same for the heap of a node daemon, which has no tasks and serves many applications. */
  private static final int NODE_PARTS = 16;

  /** Heap of a page without its longs, and of its table, which the page alone may keep alive. */
  private static final int OVERHEAD_BYTES = 1_200;

  private record Key(IndexTable table, int page) {}

  private final long maxBytes;

  // Guarded by this.
  private final Map<Key, long[]> pages = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  IndexCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Makes the cache of an executor, whose heap this process has. */
  static IndexCache ofExecutor() {
    return new IndexCache(maxBytes(Runtime.getRuntime().maxMemory()));
  }

  /** Makes the cache of a node daemon, whose heap this process has. */
  public static IndexCache ofNode() {
    return new IndexCache(maxNodeBytes(Runtime.getRuntime().maxMemory()));
  }

  static long maxNodeBytes(long heapBytes) {
    return Math.max(LEAST_BYTES, heapBytes / NODE_PARTS);
  }

  /** Returns the limit of an executor with a heap of this size. */
  static long maxBytes(long heapBytes) {
    return Math.max(LEAST_BYTES, heapBytes / PARTS);
  }

  /** Returns the page's entries, which the caller does not change; null if there are none. */
  synchronized long @Nullable [] known(IndexTable table, int page) {
    return pages.get(new Key(table, page));
  }

  /** Keeps a page's entries, from its first partition on; the caller does not change them. */
  synchronized void keep(IndexTable table, int number, long[] page) {
    long[] before = pages.put(new Key(table, number), page);
    bytes += heapBytes(page) - (before == null ? 0 : heapBytes(before));
    Iterator<long[]> eldest = pages.values().iterator();
    while (bytes > maxBytes) {
      bytes -= heapBytes(eldest.next());
      eldest.remove();
    }
  }

  private static long heapBytes(long[] page) {
    return (long) page.length * Long.BYTES + OVERHEAD_BYTES;
  }

  /** Returns the heap of all pages. */
  synchronized long heapBytes() {
    return bytes;
  }
}
