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
 * A question for parts of partition tables, on its way from disk to disk, and its one answer. Any
 * thread; the {@link TableServer} makes it.
 */
final class TableQuestion {
  private static final Logger LOG = LoggerFactory.getLogger(TableQuestion.class);

  static final NotStaged LATE = new NotStaged(false, "there is no time left for it");

  /** Of a map output that there is not, or not any more. */
  private static final long[] STALE = {};

  /** The disks of what there is not, or is in memory. */
  private static final int NONE = -1;

  private final MapOutputRegistry registry;
  private final BooleanSupplier isThere;
  private final GetTables asked;
  private final MapOutput[] outputs;

  /** By their numbers, those whose tables lie on the same disks, and have to be read there. */
  private final int[] disks;

  /** What was read; null where nothing was yet. */
  private final AtomicReferenceArray<long[]> tables;

  private final CompletableFuture<Object> answer = new CompletableFuture<>();

  /** Disks that have not been read. */
  private final AtomicInteger unread;

  /**
   * @param isThere whether the peer is still connected
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

  /** Whether it is in memory. */
  private boolean takeKnown(int i, Partitions wanted) {
    long[] entries = outputs[i].knownEntries(wanted.start(), wanted.end());
    if (entries != null) {
      tables.set(i, table(outputs[i].header(), entries));
    }
    return entries != null;
  }

  /** Those that it wants something of, each once. */
  IntStream disks() {
    return Arrays.stream(disks).filter(each -> each != NONE).distinct();
  }

  /** Completes with {@link Tables} or {@link NotStaged}; whoever is first completes it. */
  CompletableFuture<Object> answer() {
    return answer;
  }

  /**
   * Reads what it wants of some disks, as long as somebody waits for it; {@link #leave} is next.
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

  /** Nothing more is read of some disks: of the last ones that is the answer. */
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
      LOG.debug("The index of {} is no more", output, e);
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

  /** An answer that leaves out what has not been read: {@link #LATE} where that is all. */
  Object soFar() {
    boolean isNothing =
        disks().findAny().isPresent()
            && IntStream.range(0, outputs.length).allMatch(i -> tables.get(i) == null);
    return isNothing ? LATE : tables();
  }

  private Tables tables() {
    return new Tables(IntStream.range(0, outputs.length).mapToObj(this::table).toList());
  }

  /** What was replaced while it was read may be part old, part new. */
  private long[] table(int i) {
    long mapId = asked.wanted().get(i).mapId();
    if (outputs[i] == null || registry.output(asked.shuffleId(), mapId) != outputs[i]) {
      return STALE;
    }
    long[] table = tables.get(i);
    return table == null ? Tables.UNREADABLE : table;
  }
}
