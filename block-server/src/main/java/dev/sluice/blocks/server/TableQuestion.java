// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.blocks.InconsistentFilesException;
import dev.sluice.blocks.MapOutput;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Tables;
import dev.sluice.blocks.wire.MapOutputHeader;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request for parts of partition tables, and its one answer. The index and checksum files of each
 * pair of directories ("disks") are read apart. The {@link TableServer} creates it on the
 * transport's thread. For each pair of disks it calls {@link #read} at most once, on a thread of
 * its own, and then {@link #leave} once.
 */
final class TableQuestion {
  private static final Logger LOG = LoggerFactory.getLogger(TableQuestion.class);

  static final NotStaged LATE = new NotStaged(false, "the request has no time left");

  /** Answer for a map output that does not exist, or not any more. */
  private static final long[] STALE = {};

  /** Disks of a map output that does not exist, or whose entries are in memory. */
  private static final int NONE = -1;

  private final MapOutputRegistry registry;
  private final BooleanSupplier isThere;
  private final GetTables asked;
  private final MapOutput[] outputs;

  /** Disks of each map output's table where files have to be read; equal numbers, same disks. */
  private final int[] disks;

  /** Tables read so far; null where none has been read. */
  private final AtomicReferenceArray<long[]> tables;

  private final CompletableFuture<Object> answer = new CompletableFuture<>();

  /** Number of disks that have not been read. */
  private final AtomicInteger unread;

  /**
   * @param isThere returns true while the peer is connected
   */
  TableQuestion(MapOutputRegistry registry, BooleanSupplier isThere, GetTables asked) {
    this.registry = registry;
    this.isThere = isThere;
    this.asked = asked;
    int size = asked.wanted().size();
    outputs = new MapOutput[size];
    disks = new int[size];
    tables = new AtomicReferenceArray<>(size);
    for (int i = 0; i < size; i++) {
      Partitions wanted = asked.wanted().get(i);
      outputs[i] = registry.output(asked.shuffleId(), wanted.mapId());
      disks[i] = outputs[i] == null || takeKnown(i, wanted) ? NONE : outputs[i].disks().table();
    }
    unread = new AtomicInteger((int) disks().count());
    if (unread.get() == 0) {
      answer.complete(tables());
    }
  }

  /** Takes the entries if they are in memory; returns true if so. */
  private boolean takeKnown(int i, Partitions wanted) {
    long[] entries = outputs[i].knownEntries(wanted.start(), wanted.end());
    if (entries != null) {
      tables.set(i, table(outputs[i].header(), entries));
    }
    return entries != null;
  }

  /** Disks that have to be read, each once. */
  IntStream disks() {
    return Arrays.stream(disks).filter(each -> each != NONE).distinct();
  }

  /** Future of a {@link Tables} or {@link NotStaged}. The first answer counts. */
  CompletableFuture<Object> answer() {
    return answer;
  }

  /**
   * Reads the files on some disks, as long as the peer waits. {@link #leave} has to follow.
   *
   * @param opens is called before each file
   */
  void read(int disk, Runnable opens) {
    try {
      for (int i = 0; i < outputs.length && isAwaited(); i++) {
        if (disks[i] == disk) {
          opens.run();
          tables.set(i, read(outputs[i], asked.wanted().get(i)));
        }
      }
    } catch (RuntimeException | Error e) {
      answer.complete(new NotStaged(false, e.toString()));
    }
  }

  /** Marks some disks as done, read or not. The last ones complete the answer. */
  void leave() {
    if (unread.decrementAndGet() == 0 && isAwaited()) {
      answer.complete(soFar());
    }
  }

  private boolean isAwaited() {
    if (!isThere.getAsBoolean()) {
      answer.complete(LATE);
    }
    return !answer.isDone();
  }

  private static long[] read(MapOutput output, Partitions wanted) {
    try {
      long[] entries = output.entries(wanted.start(), wanted.end());
      return entries == null ? STALE : table(output.header(), entries);
    } catch (InconsistentFilesException e) {
      LOG.debug("The index of {} was deleted or replaced", output, e);
      return STALE;
    } catch (IOException e) {
      LOG.debug("The index of {} cannot be read", output, e);
      return Tables.UNREADABLE;
    }
  }

  private static long[] table(MapOutputHeader header, long[] entries) {
    long[] table = Arrays.copyOf(header.toLongs(), MapOutputHeader.LONGS + entries.length);
    System.arraycopy(entries, 0, table, MapOutputHeader.LONGS, entries.length);
    return table;
  }

  /** Answer without the tables that have not been read; {@link #LATE} if none has. */
  Object soFar() {
    boolean isNothing =
        disks().findAny().isPresent()
            && IntStream.range(0, outputs.length).allMatch(i -> tables.get(i) == null);
    return isNothing ? LATE : tables();
  }

  private Tables tables() {
    return new Tables(IntStream.range(0, outputs.length).mapToObj(this::table).toList());
  }

  /** Table of a map output; stale if replaced while read, as it may be part old, part new. */
  private long[] table(int i) {
    long mapId = asked.wanted().get(i).mapId();
    if (outputs[i] == null || registry.output(asked.shuffleId(), mapId) != outputs[i]) {
      return STALE;
    }
    long[] table = tables.get(i);
    return table == null ? Tables.UNREADABLE : table;
  }
}
