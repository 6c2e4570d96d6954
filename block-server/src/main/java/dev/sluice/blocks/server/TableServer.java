// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.blocks.DiskThreads;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Answers peers that ask for parts of partition tables which they cannot READ, because the map
 * outputs are staged. The transport's threads call it, and it never blocks them.
 *
 * <p>Entries in memory are answered on the calling thread. With many directories, nearly every
 * question would otherwise wake a thread for each pair of them. Files are read on {@link #THREADS}
 * threads, apart from those of the {@link Stager}: Spark puts index and checksum files into any two
 * directories ({@link DiskThreads}). A disk that does not answer holds up only questions that need
 * its files. Each of these is answered when an eighth of its reader's time is left, with the
 * entries from other disks. Until the disk answers, later questions skip files in the same
 * directories as a read that hangs. They skip all files of a directory once such reads have all its
 * threads. The {@link BlockServer} creates and closes the table server.
 *
 * <p>A reducer asks an executor once: 1.6 KB for one partition each of 100 map outputs, and 4.9 KB
 * for the answer. Waiting questions are limited by peer, not by task. Questions of more than 256
 * KiB of heap wait at the peer ({@link dev.sluice.blocks.client.BlockServerClient#tables}), so 500
 * peers with any number of tasks take 128 MB.
 */
final class TableServer implements AutoCloseable {
  private static final int THREADS = 16;

  /**
   * Two tasks of the same directories run at a time: reading one page is much faster than asking
   * for it. While two disks hang, four threads are left for the others, and two for each directory.
   */
  private static final DiskThreads.Limits LIMITS = new DiskThreads.Limits(THREADS, 6, 2);

  /** Limit of heap for one peer: four times the bytes that a client has unanswered at a time. */
  private static final long MAX_PEER_BYTES = 1 << 20;

  /** Time in which even a busy disk gives one file; a disk that takes longer hangs. */
  private static final long HANGS_NANOS = 1_000_000_000L;

  private static final NotStaged TOO_MANY =
      new NotStaged(false, "too many requests for partition tables are waiting");
  private static final NotStaged STOPS = new NotStaged(false, "the block server is stopping");

  private final MapOutputRegistry registry;

  private final DiskThreads threads;
  private final Set<Part> beingRead = ConcurrentHashMap.newKeySet();

  /** Heap bytes of the questions without an answer, by peer. */
  private final Map<Object, Long> peerBytes = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /** The part of a question that reads tables on the same disks. */
  private final class Part implements DiskThreads.Task {
    private final TableQuestion question;
    private final int disks;
    private final BitSet directories;
    private volatile long openedNanos;

    /**
     * @param disks a number of {@link TableQuestion#disks}
     */
    Part(TableQuestion question, int disks) {
      this.question = question;
      this.disks = disks;
      directories = registry.directories().indexesOfTable(disks);
    }

    /** Reads the files, or skips them if it would only wait for parts that hang. */
    void begin() {
      if (waitsForHangingParts()) {
        question.leave();
      } else {
        threads.execute(directories, this);
      }
    }

    /**
     * Returns true if a part of the same directories hangs, or if parts that hang have all threads
     * of one directory. The order of index and checksum files in the directories does not matter.
     */
    private boolean waitsForHangingParts() {
      int[] hanging = new int[registry.directories().count() + 1];
      for (Part part : beingRead) {
        if (part.hangs()) {
          if (part.directories.equals(directories)) {
            return true;
          }
          part.directories.stream().forEach(directory -> hanging[directory]++);
        }
      }
      return directories.stream()
          .anyMatch(directory -> hanging[directory] >= LIMITS.perDirectory());
    }

    @Override
    public void run() {
      opens();
      beingRead.add(this);
      question.read(disks, this::opens);
      beingRead.remove(this);
      question.leave();
    }

    @Override
    public void refused(Throwable reason) {
      question.answer().complete(closed ? STOPS : TOO_MANY);
    }

    private void opens() {
      openedNanos = System.nanoTime();
    }

    /** Returns true if the question is answered and the thread is stuck in a file. */
    private boolean hangs() {
      return question.answer().isDone() && System.nanoTime() - openedNanos >= HANGS_NANOS;
    }

    /** Removes the part if it has not begun: its question is answered. */
    void end() {
      threads.remove(directories, this);
    }
  }

  TableServer(MapOutputRegistry registry) {
    this.registry = registry;
    threads = new DiskThreads("sluice-tables", LIMITS, registry.directories().count() + 1);
  }

  /**
   * Reads the tables. Never blocks.
   *
   * @param peer the peer that asks
   * @param isThere returns true while the peer is connected; nothing is read once it is not
   * @param taker gets one {@link ControlMessages.Tables} or {@link NotStaged}, on any thread
   */
  void get(Object peer, BooleanSupplier isThere, GetTables asked, Consumer<Object> taker) {
    if (asked.wanted().size() > ControlMessages.MAX_PIECES
        || asked.partitions() > ControlMessages.MAX_ENTRIES) {
      String reason =
          "request for %d partitions of %d map outputs, but at most %d of %d are read at a time"
              .formatted(
                  asked.partitions(),
                  asked.wanted().size(),
                  ControlMessages.MAX_ENTRIES,
                  ControlMessages.MAX_PIECES);
      taker.accept(new NotStaged(false, reason));
      return;
    }
    long bytes = asked.heapBytes();
    if (peerBytes.merge(peer, bytes, Long::sum) > MAX_PEER_BYTES) {
      release(peer, bytes);
      taker.accept(TOO_MANY);
      return;
    }
    registry.touch(asked.shuffleId());
    start(
        new TableQuestion(registry, isThere, asked),
        ControlMessages.usable(asked.timeLeftMs()),
        answer -> {
          release(peer, bytes);
          taker.accept(answer);
        });
  }

  private void release(Object peer, long bytes) {
    peerBytes.computeIfPresent(peer, (_, before) -> before == bytes ? null : before - bytes);
  }

  private void start(TableQuestion question, long usableMs, Consumer<Object> taker) {
    List<Part> parts = question.disks().mapToObj(disks -> new Part(question, disks)).toList();
    question
        .answer()
        .orTimeout(usableMs, TimeUnit.MILLISECONDS)
        .exceptionally(_ -> question.soFar())
        .thenAccept(
            answer -> {
              parts.forEach(Part::end);
              taker.accept(answer);
            });
    parts.forEach(Part::begin);
  }

  /** Answers the waiting questions. A reader closes the file that it is reading. Idempotent. */
  @Override
  public void close() {
    closed = true;
    threads.stop(0);
  }
}
