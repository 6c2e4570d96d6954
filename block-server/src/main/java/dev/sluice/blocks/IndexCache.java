package dev.sluice.blocks;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was read lately of the {@link IndexTable}s of this process, so that reducers of adjoining
 * partitions do not have the same files opened again and again. Any thread; the lock is held for
 * map operations only and never while a file is read. Holds heap only, up to a limit, beyond which
 * the least recently used pages leave: then a page costs two reads of 2 KiB again.
 *
 * <p>With 100 staged map outputs of any number of partitions one reducer wants 100 pages: 430 KB.
 */
final class IndexCache {
  /** For 1,600 pages. */
  private static final long LEAST_BYTES = 8 << 20;

  /** Of the heap: in 9 GB what 3,200 tasks at a time want of 1,000 map outputs, 13,000 pages. */
  private static final int PARTS = 128;

  /** Heap of a page beside its longs, and of its table, which may be gone but for that. */
  private static final int OVERHEAD_BYTES = 1_200;

  private record Key(IndexTable table, int page) {}

  private final long maxBytes;

  // Guarded by this.
  private final Map<Key, long[]> pages = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  IndexCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Of a heap of so many bytes. */
  static long maxBytes(long heapBytes) {
    return Math.max(LEAST_BYTES, heapBytes / PARTS);
  }

  /** Entries of the table's partitions from the page's first one on; not to be changed. */
  long[] page(IndexTable table, int page) throws IOException {
    long[] known = known(table, page);
    if (known != null) {
      return known;
    }
    long[] read = table.read(page);
    keep(new Key(table, page), read);
    return read;
  }

  /** The same; null where it would have to be read. */
  synchronized long[] known(IndexTable table, int page) {
    return pages.get(new Key(table, page));
  }

  private synchronized void keep(Key key, long[] page) {
    long[] before = pages.put(key, page);
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

  /** Heap of all pages. */
  synchronized long heapBytes() {
    return bytes;
  }
}
