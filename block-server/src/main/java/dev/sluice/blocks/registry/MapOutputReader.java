// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads this process's own map outputs of one shuffle: mapped ones from registered memory, without
 * opening a file, and others from their files. A reduce task gets one from the {@link
 * MapOutputRegistry}. For one thread. Nothing to close: memory is held only while it is copied.
 *
 * <p>A mapped file may be truncated, or its disk may fail. The JDK turns the SIGBUS of such an
 * access into an InternalError. Bytes between the new end of the file and the end of its page read
 * as zeros, without any signal. Every copy is therefore verified with the checksum that was written
 * with the bytes, which costs less than opening the file.
 */
public final class MapOutputReader {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputReader.class);

  /** The partitions are unknown here, longer than the target, or differ from the bytes written. */
  public static final int UNREADABLE = -1;

  /** The partitions do not fit behind the offset. */
  public static final int NO_ROOM = -2;

  private final ShuffleOutputs shuffle;
  private ChecksumAlgorithm algorithm = ChecksumAlgorithm.NONE;
  private @Nullable Checksum checksum;
  private boolean warned;

  MapOutputReader(ShuffleOutputs shuffle) {
    this.shuffle = shuffle;
  }

  /**
   * Copies partitions [start, end) of a map output.
   *
   * @return number of bytes copied, {@link #UNREADABLE} or {@link #NO_ROOM}; with the last two, the
   *     target's bytes from the offset on are undefined
   */
  public int copy(long mapId, int startPartition, int endPartition, byte[] target, int offset) {
    MapOutput output = shuffle.get(mapId);
    Checksum used = output == null ? null : checksum(output.header().checksumAlgorithm());
    if (output == null || used == null) {
      return UNREADABLE;
    }
    try {
      return output.copy(startPartition, endPartition, target, offset, used);
    } catch (InternalError | IOException e) {
      if (shuffle.get(mapId)
          == output) { // else it was deregistered, and its file closed, meanwhile
        warnOnce(mapId, e);
      }
      return UNREADABLE;
    }
  }

  private void warnOnce(long mapId, Throwable e) {
    if (!warned) {
      warned = true;
      LOG.warn(
          "Shuffle {}: cannot read the file of map output {}. Check whether it was truncated, or"
              + " its disk fails",
          shuffle.id(),
          mapId,
          e);
    }
  }

  /** Returns the algorithm's checksum, which is reused; null if there are no checksums. */
  private @Nullable Checksum checksum(ChecksumAlgorithm used) {
    if (used != algorithm) {
      algorithm = used;
      checksum = used == ChecksumAlgorithm.NONE ? null : used.newChecksum();
    }
    return checksum;
  }
}
