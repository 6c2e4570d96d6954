package dev.sluice.blocks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the pages of map outputs that are registered on demand within the registration budget, of
 * which they and partition tables then are. Such pages are nobody's who needs memory, but YARN's
 * monitor counts those that are resident as the process's, and ends it for too many.
 *
 * <p>Pages that are given back stay in the page cache, and the next READ has them faulted in anew;
 * the kernel tells the device, and may do the same at any time. So shuffles give all of theirs
 * back, those that were READ least recently first, until there are few enough: most bytes are READ
 * once.
 *
 * <p>On the registry's thread, which calls it often enough that what is READ meanwhile is little;
 * it owns nothing.
 */
final class ResidentPages {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentPages.class);

  /** A link of 100 Gb/s brings in 1.2 GB until then. */
  static final long TICK_MS = 100;

  private static final Path STATUS = Path.of("/proc/self/status");

  /** Of files on disk, and in memory. */
  private static final Pattern RESIDENT = Pattern.compile("(?m)^Rss(?:File|Shmem):\\s*(\\d+) kB$");

  /** What is READ meanwhile does not change the order. */
  private record Read(RegisteredShuffle shuffle, long lastMs) {}

  private final ShuffleEpochs epochs;
  private final long maxBytes;
  private final RegistryCounters counters;

  /** What the process had beside them when all were given back: libraries, and the like. */
  private long othersBytes;

  ResidentPages(ShuffleEpochs epochs, long maxBytes, RegistryCounters counters) {
    this.epochs = epochs;
    this.maxBytes = maxBytes;
    this.counters = counters;
  }

  /** Gives back what is too much. */
  void bound() {
    try {
      long residentBytes = residentBytes();
      othersBytes = Math.min(othersBytes, residentBytes);
      if (isTooMuch(residentBytes)) {
        giveBack();
      }
    } catch (IOException e) { // No descriptor is left, it may be.
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
      if (!isTooMuch(residentBytes())) {
        return;
      }
    }
    othersBytes = residentBytes();
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
