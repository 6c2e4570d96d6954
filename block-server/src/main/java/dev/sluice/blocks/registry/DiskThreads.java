// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.rdma.transfer.DaemonThreads;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A fixed number of threads for tasks that wait for the disks of local directories.
 *
 * <p>A task names the directories of its files. It waits while one of them, or a pair of them, has
 * as many running tasks as is allowed. A disk that does not answer therefore takes some of the
 * threads, and a part of the limit of each other directory. {@link Limits} says how many disks may
 * hang before others wait for them. Tasks of the same directories start in order of arrival.
 *
 * <p>Any thread executes tasks, and never blocks. Each task is run or refused. {@link
 * RegistrationQueue} opens map outputs on it, and stops it. Tasks are run and refused without the
 * lock. While a thread is free, a task that arrives or ends looks at each set of directories that
 * has waiting tasks: some 2,000 sets of 24 directories.
 */
final class DiskThreads {
  private static final Logger LOG = LoggerFactory.getLogger(DiskThreads.class);

  /** Work that waits for disks. */
  interface Task extends Runnable {
    /** Called if the task is never run: no thread could be had, or the threads were stopped. */
    void refused(Throwable reason);
  }

  /**
   * Limits of running tasks. A directory's tasks go on while fewer than {@code perDirectory /
   * together} and fewer than {@code threads / perDirectory} other disks hang.
   *
   * @param threads all tasks
   * @param perDirectory tasks with a file in one directory
   * @param together tasks with files in the same two directories, or in the same single one
   */
  record Limits(int threads, int perDirectory, int together) {}

  private record Entry(BitSet directories, Task task) {}

  private final ExecutorService threads;
  private final Limits limits;

  // Guarded by this.
  /** Waiting tasks by their directories. */
  private final SequencedMap<BitSet, SequencedSet<Task>> waiting = new LinkedHashMap<>();

  private final int[] inDirectory;

  /** By two directories, the lower number first; by one directory twice for tasks of it alone. */
  private final int[][] together;

  private int running;
  private boolean stopped;

  /**
   * @param directories number of directories
   */
  DiskThreads(String name, Limits limits, int directories) {
    this(DaemonThreads.atMost(limits.threads(), name), limits, directories);
  }

  /**
   * @param threads are given as many tasks at a time as the limits say; {@link #stop} stops them
   */
  DiskThreads(ExecutorService threads, Limits limits, int directories) {
    this.threads = threads;
    this.limits = limits;
    inDirectory = new int[directories];
    together = new int[directories][directories];
  }

  /**
   * Runs the task when its directories have room for it. Throws nothing: a task that cannot be run
   * is refused, perhaps on the caller's thread.
   *
   * @param directories numbers of its files' directories: at least one; not changed later
   */
  void execute(BitSet directories, Task task) {
    boolean waits = false;
    try {
      enter(directories, task);
      waits = true;
    } catch (Throwable e) { // Errors too: the task must be refused.
      task.refused(e);
    }
    if (waits) {
      startNext();
    }
  }

  private synchronized void enter(BitSet directories, Task task) {
    if (stopped) {
      throw new RejectedExecutionException("the disk threads have stopped");
    }
    SequencedSet<Task> line = waiting.get(directories);
    if (line == null) {
      line = new LinkedHashSet<>();
      line.add(task);
      waiting.put(directories, line);
    } else {
      line.add(task);
    }
  }

  /** Returns the number of tasks that wait for exactly these directories. */
  synchronized int waiting(BitSet directories) {
    SequencedSet<Task> line = waiting.get(directories);
    return line == null ? 0 : line.size();
  }

  /** Starts the tasks that have room. */
  private void startNext() {
    try {
      for (Entry next = next(); next != null; next = next()) {
        start(next);
      }
    } catch (Throwable e) { // No memory: the next task that comes or ends tries again.
      LOG.error("Starting disk tasks failed; they wait until another task arrives or ends", e);
    }
  }

  /**
   * Takes the first task that has room and counts it as running. Its queue moves behind the others.
   * An Error leaves everything as it was.
   */
  private synchronized @Nullable Entry next() {
    if (running < limits.threads()) {
      for (Map.Entry<BitSet, SequencedSet<Task>> line : waiting.entrySet()) {
        if (hasRoom(line.getKey())) {
          return take(line.getKey(), line.getValue());
        }
      }
    }
    return null;
  }

  private Entry take(BitSet directories, SequencedSet<Task> line) {
    Entry entry = new Entry(directories, line.getFirst());
    count(directories, 1);
    line.removeFirst();
    if (line.isEmpty()) {
      waiting.remove(directories);
    } else {
      waiting.putLast(directories, line);
    }
    return entry;
  }

  private void start(Entry entry) {
    try {
      threads.execute(() -> run(entry));
    } catch (Throwable e) { // RejectedExecutionException, or an Error: no thread can be made
      count(entry.directories(), -1);
      entry.task().refused(e);
    }
  }

  private void run(Entry entry) {
    try {
      entry.task().run();
    } catch (Throwable e) { // A defect, which must not hold up the directory's other tasks.
      LOG.error("A task that reads files of map outputs failed", e);
    } finally {
      count(entry.directories(), -1);
      startNext();
    }
  }

  private boolean hasRoom(BitSet directories) {
    int apart = apart(directories);
    for (int a = directories.nextSetBit(0); a >= 0; a = directories.nextSetBit(a + 1)) {
      if (inDirectory[a] >= limits.perDirectory()) {
        return false;
      }
      for (int b = directories.nextSetBit(a + apart); b >= 0; b = directories.nextSetBit(b + 1)) {
        if (together[a][b] >= limits.together()) {
          return false;
        }
      }
    }
    return true;
  }

  /** Counts running tasks. Allocates nothing, so that no Error leaves it half done. */
  private synchronized void count(BitSet directories, int change) {
    running += change;
    int apart = apart(directories);
    for (int a = directories.nextSetBit(0); a >= 0; a = directories.nextSetBit(a + 1)) {
      inDirectory[a] += change;
      for (int b = directories.nextSetBit(a + apart); b >= 0; b = directories.nextSetBit(b + 1)) {
        together[a][b] += change;
      }
    }
  }

  /** Returns 0 for a single directory, which pairs with itself, or 1 to pair with higher ones. */
  private static int apart(BitSet directories) {
    return directories.cardinality() == 1 ? 0 : 1;
  }

  /**
   * Refuses the waiting tasks and starts no more. Idempotent.
   *
   * @param timeoutMs maximum time to wait for running tasks
   * @return true if these have ended
   */
  boolean stop(long timeoutMs) {
    List<Task> left = new ArrayList<>();
    synchronized (this) {
      stopped = true;
      waiting.values().forEach(left::addAll);
      waiting.clear();
    }
    RejectedExecutionException reason =
        new RejectedExecutionException("the disk threads have stopped");
    left.forEach(task -> task.refused(reason));
    return DaemonThreads.stop(threads, timeoutMs);
  }
}
