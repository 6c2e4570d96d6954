// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.directory.LocalDirectories.Disks;
import dev.sluice.blocks.registry.MapOutput;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.TableReading;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks of a request to stage: their map outputs, their tables, and the bytes that are copied.
 * The {@link Stager} makes it for each {@link StageRequest}, whose steps call it one after the
 * other: tables that are in files are read, then the blocks that fit are chosen, then these are
 * copied. In a step, each lane's files are read on a thread of its own.
 */
final class StagedBlocks {
  private static final Logger LOG = LoggerFactory.getLogger(StagedBlocks.class);

  private final Stage stage;
  private final MapOutputRegistry registry;
  private final StageLanes lanes;

  /** Map output of each block; null if it is unknown. */
  private final @Nullable MapOutput[] outputs;

  /**
   * Tables of the answer; null until it is read. The last lane of a table sets it, and each lane
   * the reason of its failure.
   */
  private final long[] @Nullable [] tables;

  /** Readings of the tables that are in files, until they have been read; null for all others. */
  private final @Nullable TableReading[] readings;

  /** Position of each block's bytes in its data file, and their number; 0 if none is copied. */
  private final long[] positions;

  private final int[] lengths;

  /**
   * @param avoided lanes that are not to be read: blocks there are unreadable
   */
  StagedBlocks(Stage stage, MapOutputRegistry registry, StageLanes lanes, BitSet avoided) {
    this.stage = stage;
    this.registry = registry;
    this.lanes = lanes;
    int size = stage.wanted().size();
    outputs = new MapOutput[size];
    tables = new long[size][];
    readings = new TableReading[size];
    positions = new long[size];
    lengths = new int[size];
    for (int i = 0; i < size; i++) {
      outputs[i] = registry.output(stage.shuffleId(), stage.wanted().get(i).mapId());
      tables[i] = known(i, avoided);
    }
  }

  /** The same blocks, without those that have a file in the lanes. */
  StagedBlocks without(BitSet avoided) {
    return new StagedBlocks(stage, registry, lanes, avoided);
  }

  int timeLeftMs() {
    return stage.timeLeftMs();
  }

  /** Returns a table that is in memory, or why there is none; null if it has to be read. */
  private long @Nullable [] known(int i, BitSet avoided) {
    MapOutput output = outputs[i];
    if (output == null) {
      return Staged.STALE;
    }
    if (avoided.get(lanes.hot(output.disks().data()))) {
      return Staged.UNREADABLE;
    }
    Partitions wanted = stage.wanted().get(i);
    long[] known = output.knownEntries(wanted.start(), wanted.end());
    if (known != null) {
      return answered(output, known);
    }
    readings[i] = output.reading(wanted.start(), wanted.end());
    if (readings[i] == null) {
      return Staged.STALE;
    }
    return tableLanes(i).anyMatch(avoided::get) ? Staged.UNREADABLE : null;
  }

  /** The table for the answer. The reader of a further part of a block knows its entries. */
  private long[] answered(MapOutput output, long[] entries) {
    long[] told = stage.position() == 0 ? entries : TableEntry.sum(entries);
    long[] header = output.header().toLongs();
    long[] table = Arrays.copyOf(header, MapOutputHeader.LONGS + told.length);
    System.arraycopy(told, 0, table, MapOutputHeader.LONGS, told.length);
    return table;
  }

  private Disks disks(int i) {
    return requireNonNull(outputs[i]).disks();
  }

  private IntStream tableLanes(int i) {
    return IntStream.of(lanes.hot(disks(i).index()), lanes.hot(disks(i).checksums()));
  }

  /** Lanes of the tables that have to be read, each once. */
  int[] tableLanes() {
    return IntStream.range(0, tables.length)
        .filter(i -> tables[i] == null)
        .flatMap(this::tableLanes)
        .distinct()
        .toArray();
  }

  /**
   * Reads those files of tables that are in a lane.
   *
   * @param ends returns true once nothing more is to be read
   */
  void readTables(int lane, BooleanSupplier ends) {
    for (int i = 0; i < readings.length; i++) {
      TableReading reading = readings[i];
      if (reading != null && tableLanes(i).anyMatch(each -> each == lane)) {
        if (ends.getAsBoolean()) {
          return;
        }
        try {
          readTable(i, reading, lane);
        } catch (IOException e) {
          LOG.debug("The table of {} cannot be read", outputs[i], e);
          tables[i] = e instanceof InconsistentFilesException ? Staged.STALE : Staged.UNREADABLE;
        }
      }
    }
  }

  private void readTable(int i, TableReading reading, int lane) throws IOException {
    long[] entries = null;
    if (lanes.hot(disks(i).index()) == lane) {
      entries = reading.readIndex();
    }
    if (lanes.hot(disks(i).checksums()) == lane) {
      entries = reading.readChecksums();
    }
    if (entries != null) {
      tables[i] = answered(requireNonNull(outputs[i]), entries);
      readings[i] = null;
    }
  }

  /**
   * Chooses the blocks to copy, once no more tables are read: the first ones that fit together, or
   * a part of a single one. A block is unreadable if its table was not read.
   *
   * @param maxBytes limit of this server
   * @return the bytes of the copy
   */
  int choose(int maxBytes) {
    long room = Math.min(stage.maxBytes(), maxBytes);
    int chosen = 0;
    for (int i = 0; i < tables.length; i++) {
      long[] table = tables[i];
      if (table == null) {
        table = Staged.UNREADABLE;
        tables[i] = table;
      }
      long length =
          Staged.isTable(table)
              ? TableEntry.bytes(table, MapOutputHeader.LONGS) - stage.position()
              : 0;
      long part = tables.length == 1 ? Math.min(length, room) : length;
      if (part > 0 && part <= room) {
        positions[i] = TableEntry.offset(table[MapOutputHeader.LONGS]) + stage.position();
        lengths[i] = (int) part;
        chosen += (int) part;
        room -= part;
      } else if (part > 0) {
        room = 0;
      }
    }
    return chosen;
  }

  /** Blocks with bytes to copy. */
  private IntStream chosen() {
    return IntStream.range(0, lengths.length).filter(i -> lengths[i] > 0);
  }

  private int dataLane(int i, boolean cold) {
    int hot = lanes.hot(disks(i).data());
    return cold ? lanes.cold(hot) : hot;
  }

  /**
   * Lanes of the chosen blocks, each once.
   *
   * @param cold true to wait for the disks
   */
  int[] dataLanes(boolean cold) {
    return chosen().map(i -> dataLane(i, cold)).distinct().toArray();
  }

  /**
   * Copies a lane's blocks to their places in the copy. Blocks on the disks if it is cold.
   *
   * @param ends returns true once nothing more is to be read
   * @return false if the page cache lacks bytes and it is not cold
   */
  boolean copy(int lane, boolean cold, MemorySegment copy, BooleanSupplier ends)
      throws IOException {
    int at = 0;
    for (int i = 0; i < lengths.length; i++) {
      if (lengths[i] > 0 && dataLane(i, cold) == lane) {
        if (ends.getAsBoolean()) {
          return true;
        }
        MapOutput output = requireNonNull(outputs[i]);
        MemorySegment part = copy.asSlice(at, lengths[i]);
        if (!registry.read(output, positions[i], part.asByteBuffer(), !cold)) {
          return false;
        }
      }
      at += lengths[i];
    }
    return true;
  }

  /** Returns true if no map output of a chosen block has been unregistered or replaced. */
  boolean isCurrent() {
    return chosen()
        .allMatch(
            i -> registry.output(stage.shuffleId(), stage.wanted().get(i).mapId()) == outputs[i]);
  }

  /** CRC32C of the copy, unless all its map outputs have checksums of Spark's. */
  long crc32c(MemorySegment copy) {
    boolean verifiable =
        chosen()
            .mapToObj(i -> requireNonNull(outputs[i]).header().checksumAlgorithm())
            .noneMatch(algorithm -> algorithm == ChecksumAlgorithm.NONE);
    if (verifiable) {
      return Staged.NO_CHECKSUM;
    }
    Checksum crc = ChecksumAlgorithm.CRC32C.newChecksum();
    crc.update(copy.asByteBuffer());
    return crc.getValue();
  }

  /** Returns true if a block is not staged because its files were not read. */
  boolean isAnyUnreadable() {
    return Arrays.stream(tables).anyMatch(table -> table == Staged.UNREADABLE);
  }

  /** Tables of the answer, in the order of the request. */
  List<long[]> tables() {
    return Arrays.asList(tables);
  }

  @Override
  public String toString() {
    return "%d blocks of shuffle %d".formatted(outputs.length, stage.shuffleId());
  }
}
