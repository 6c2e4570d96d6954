package dev.sluice.blocks.server;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Answers peers that ask for parts of partition tables which they cannot READ, because their map
 * outputs are staged. Asked on the transport's threads, which it never blocks.
 *
 * <p>What is in memory is answered where it is asked: of many directories each two would else have
 * a thread woken for their part of nearly every question. Files are read on a few threads that the
 * local directories of a table's files have for themselves, apart from those that copy ({@link
 * Stager}): Spark puts index and checksums into any two of them. So a disk that does not answer
 * holds up those questions alone that want something of it, and each of these has its answer when
 * an eighth of its reader's time is left: what other disks have. From then on nobody waits for that
 * disk until it answers. The {@link BlockServer} makes and closes it.
 *
 * <p>A reducer asks once for what it wants of an executor: 1.6 KB for one partition each of 100 map
 * outputs, and 4.9 KB for the answer. What waits here is bounded by peers, not by their tasks: more
 * than 256 KiB of heap waits where it is asked ({@link
 * dev.sluice.blocks.client.BlockServerClient#tables}), so that 500 peers, however many tasks these
 * have, take 128 MB.
 */
final class TableServer implements AutoCloseable {
  /** Of the same directories: one page is read much faster than it is asked for. */
  private static final int THREADS = 2;

  /** Of heap: four times what a client has answered at a time. */
  private static final long MAX_PEER_BYTES = 1 << 20;

  /** A disk that has not given one file by then hangs; less may be a busy one. */
  private static final long HANGS_NANOS = 1_000_000_000L;

  private static final NotStaged TOO_MANY = new NotStaged(false, "too many questions wait");
  private static final NotStaged STOPS = new NotStaged(false, "the server stops");

  private final MapOutputRegistry registry;

  /** By {@link TableQuestion#disks}. */
  private final List<Disk> disks;

  /** Of the questions that have no answer yet. */
  private final Map<Object, Long> peerBytes = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /** Those that one kind of tables lies on. */
  private static final class Disk {
    private final ThreadPoolExecutor threads = DaemonThreads.atMost(THREADS, "sluice-tables");
    private final Set<Part> beingRead = ConcurrentHashMap.newKeySet();

    boolean hangs() {
      return beingRead.stream().anyMatch(Part::hangs);
    }
  }

  /** What a question wants of some disks. */
  private static final class Part implements Runnable {
    private final TableQuestion question;
    private final int number;
    private final Disk disk;
    private volatile long openedNanos;

    Part(TableQuestion question, int number, Disk disk) {
      this.question = question;
      this.number = number;
      this.disk = disk;
    }

    @Override
    public void run() {
      opens();
      disk.beingRead.add(this);
      question.read(number, this::opens);
      disk.beingRead.remove(this);
      question.leave();
    }

    private void opens() {
      openedNanos = System.nanoTime();
    }

    /** Whether its question has its answer, and its thread does not come back from a file. */
    boolean hangs() {
      return question.answer().isDone() && System.nanoTime() - openedNanos >= HANGS_NANOS;
    }

    /** Its question has its answer: if it has not begun it need not any more. */
    void end() {
      disk.threads.getQueue().remove(this);
    }
  }

  TableServer(MapOutputRegistry registry) {
    this.registry = registry;
    long directories = registry.directories().count() + 1L;
    this.disks = Stream.generate(Disk::new).limit(directories * directories).toList();
  }

  /**
   * Reads what is asked for. Never blocks.
   *
   * @param peer who asks
   * @param isThere whether the peer is still connected: nothing is read for one that is not
   * @param taker gets one {@link ControlMessages.Tables} or {@link NotStaged}, on any thread
   */
  void get(Object peer, BooleanSupplier isThere, GetTables asked, Consumer<Object> taker) {
    if (asked.wanted().size() > ControlMessages.MAX_PIECES
        || asked.partitions() > ControlMessages.MAX_ENTRIES) {
      String reason =
          "%d partitions of %d map outputs are asked for, %d of %d are read at a time"
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
    List<Part> parts =
        question.disks().mapToObj(disk -> new Part(question, disk, disks.get(disk))).toList();
    question
        .answer()
        .orTimeout(usableMs, TimeUnit.MILLISECONDS)
        .exceptionally(_ -> question.soFar())
        .thenAccept(
            answer -> {
              parts.forEach(Part::end);
              taker.accept(answer);
            });
    try {
      parts.forEach(this::read);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      question.answer().complete(closed ? STOPS : TOO_MANY);
    }
  }

  private void read(Part part) {
    if (part.disk.hangs()) {
      part.question.leave();
    } else {
      part.disk.threads.execute(part);
    }
  }

  /** Answers who waits; a file that is being read is closed by its reader. Idempotent. */
  @Override
  public void close() {
    closed = true;
    for (Disk disk : disks) {
      for (Runnable waiting : disk.threads.shutdownNow()) {
        ((Part) waiting).question.answer().complete(STOPS);
      }
    }
  }
}
