// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.rdma.transfer.Counters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the resident pages of map outputs that are registered on demand. These pages and the
 * partition tables together stay within the registration budget. The kernel may reclaim such pages,
 * but YARN's monitor counts resident ones as the process's memory, and ends it for too many.
 *
 * <p>Pages that are given back stay in the page cache. The next READ faults them in again; the
 * kernel tells the device, and may reclaim pages itself at any time. Shuffles therefore give back
 * all of their pages, the least recently READ shuffle first, until few enough are resident. Most
 * bytes are READ only once.
 *
 * <p>A {@link MapOutputRegistry} that may register on demand creates one. Its thread calls {@link
 * #bound} so often that little is READ between calls. There is nothing to close.
 */
final class ResidentPages {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentPages.class);

  /** Interval of calls; a link of 100 Gb/s brings in 1.2 GB in this time. */
  static final long TICK_MS = 100;

  /**
   * Number of ticks after a rise of {@link #othersBytes} in which all pages are given back again.
   * Pages of READs during the measurement would otherwise count as other bytes for ever.
   */
  static final int TICKS_TO_VERIFY = 3;

  private static final Path STATUS = Path.of("/proc/self/status");

  /** Resident pages of files on disk and in memory. */
  private static final Pattern RESIDENT = Pattern.compile("(?m)^Rss(?:File|Shmem):\\s*(\\d+) kB$");

  /** Snapshot of the last READ, so that READs during the sort do not change the order. */
  private record Read(ShuffleOutputs shuffle, long lastMs) {}

  private final ShuffleEpochs epochs;
  private final long maxBytes;
  private final Counters<RegistryCounter> counters;

  /** Bytes of libraries and the like: those still resident when all pages were given back. */
  private long othersBytes;

  /** Ticks that still verify {@link #othersBytes}. */
  private int ticksToVerify;

  ResidentPages(ShuffleEpochs epochs, long maxBytes, Counters<RegistryCounter> counters) {
    this.epochs = epochs;
    this.maxBytes = maxBytes;
    this.counters = counters;
  }

  /** Gives back pages if too many are resident. */
  void bound() {
    try {
      long residentBytes = residentBytes();
      othersBytes = Math.min(othersBytes, residentBytes);
      if (ticksToVerify > 0 || isTooMuch(residentBytes)) {
        giveBack();
      }
    } catch (IOException e) { // Perhaps no descriptor is left.
      LOG.debug("{} cannot be read", STATUS, e);
    }
  }

  private void giveBack() throws IOException {
    List<Read> shuffles =
        epochs
            .all()
            .map(shuffle -> new Read(shuffle, shuffle.lastReadMs()))
            .sorted(Comparator.comparingLong(Read::lastMs))
            .toList();
    for (Read read : shuffles) {
      if (read.shuffle().giveBackPages()) {
        counters.add(RegistryCounter.PAGES_GIVEN_BACK, 1);
      }
      if (ticksToVerify == 0 && !isTooMuch(residentBytes())) {
        return;
      }
    }
    if (ticksToVerify > 0) {
      ticksToVerify--;
      othersBytes = Math.min(othersBytes, residentBytes());
    } else {
      ticksToVerify = TICKS_TO_VERIFY;
      othersBytes = residentBytes();
    }
  }

  private boolean isTooMuch(long residentBytes) {
    long tableBytes = counters.get(RegistryCounter.REGISTERED_BYTES);
    return residentBytes - othersBytes > maxBytes - tableBytes;
  }

  private static long residentBytes() throws IOException {
    return RESIDENT
        .matcher(Files.readString(STATUS))
        .results()
        .map(result -> result.group(1))
        .mapToLong(kilobytes -> Long.parseLong(kilobytes) << 10)
        .sum();
  }
}
