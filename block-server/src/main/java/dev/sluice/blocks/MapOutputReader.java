package dev.sluice.blocks;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.util.zip.Checksum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads this process's own map outputs of one shuffle from their registered memory, without opening
 * a file, and those that are not mapped from their files. A reduce task gets one from the {@link
 * MapOutputRegistry}; for one thread; nothing to close, since memory is held only while it is
 * copied.
 *
 * <p>The memory may be a mapping of a file that somebody truncates or a disk that fails. The JDK
 * turns the SIGBUS of such an access into an InternalError; what lies between the new end of the
 * file and the end of its page reads as zeros, without any signal. So every copy is verified with
 * the checksum that the bytes were written with, which costs less than opening the file.
 */
public final class MapOutputReader {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputReader.class);

  /** The partitions are not known here, longer than the target, or not what was written. */
  public static final int UNREADABLE = -1;

  /** The partitions do not fit behind the offset. */
  public static final int NO_ROOM = -2;

  private final RegisteredShuffle shuffle;
  private ChecksumAlgorithm algorithm = ChecksumAlgorithm.NONE;
  private Checksum checksum;
  private boolean warned;

  MapOutputReader(RegisteredShuffle shuffle) {
    this.shuffle = shuffle;
  }

  /**
   * Copies partitions [start, end) of a map output.
   *
   * @return how many bytes were copied, {@link #UNREADABLE} or {@link #NO_ROOM}; in either of these
   *     cases what the target has from the offset on is undefined
   */
  public int copy(long mapId, int startPartition, int endPartition, byte[] target, int offset) {
    MapOutput output = shuffle.get(mapId);
    if (output == null || !use(output.header().checksumAlgorithm())) {
      return UNREADABLE;
    }
    try {
      return output.copy(startPartition, endPartition, target, offset, checksum);
    } catch (InternalError | IOException e) {
      warnOnce(mapId, e);
      return UNREADABLE;
    }
  }

  private void warnOnce(long mapId, Throwable e) {
    if (!warned) {
      warned = true;
      LOG.warn(
          "Shuffle {}: the file of map output {} cannot be read. Was it"
              + " truncated, or is its disk failing?",
          shuffle.id(),
          mapId,
          e);
    }
  }

  /** Prepares for the algorithm; false where there are no checksums. */
  private boolean use(ChecksumAlgorithm used) {
    if (used != algorithm) {
      algorithm = used;
      checksum = used == ChecksumAlgorithm.NONE ? null : used.newChecksum();
    }
    return checksum != null;
  }
}
