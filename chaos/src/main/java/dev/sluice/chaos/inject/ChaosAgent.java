// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.testkit.JsonFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import org.apache.commons.lang3.function.FailableRunnable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The harness's agent in an executor. It reads orders from a file and answers each with a file of
 * the executor's {@link Status}. It uses files, because the harness disturbs every other way
 * between driver and executor. {@link ChaosShuffleManager} starts it; it ends with the process. Its
 * thread polls every 10 ms; when an order changes, it first runs the callback and then answers. Any
 * thread asks whether an injection acts.
 */
public final class ChaosAgent {
  private static final Logger LOG = LoggerFactory.getLogger(ChaosAgent.class);
  private static final long LOOK_MS = 10;

  private final Path orders;
  private final Path answer;
  private final String executorId;
  private final LongFunction<Status> status;
  private final FailableRunnable<IOException> disturbed;

  /** Identifies a written file: each order replaces the file of the one before. */
  private record OrderFile(FileTime written, Object key) {}

  /** File whose order was answered; an order is tried again until then. */
  private @Nullable OrderFile answered;

  /** True until the callback has succeeded for the present decisions; for the agent's thread. */
  private boolean isCallbackDue;

  private volatile Decisions decisions;
  private volatile @Nullable Order stoppedBy;
  private final Map<Injection, LongAdder> hits = new ConcurrentHashMap<>();

  /** An order, and the random generator of its decisions, which threads share. */
  private record Decisions(Order order, Random random) {
    double next() {
      return random.nextDouble();
    }
  }

  /**
   * @param directory directory that is shared with the driver
   * @param status returns the executor's state, for the order's sequence
   * @param disturbed called on the agent's thread when the order changes
   */
  ChaosAgent(
      Path directory,
      String executorId,
      LongFunction<Status> status,
      FailableRunnable<IOException> disturbed) {
    this.orders = directory.resolve("order.json");
    this.answer = directory.resolve("status-" + executorId + ".json");
    this.executorId = executorId;
    this.status = status;
    this.disturbed = disturbed;
    this.decisions = decisions(Order.NONE);
  }

  void start() {
    Thread.ofPlatform().daemon().name("chaos-agent").start(this::run);
  }

  private void run() {
    while (true) {
      try {
        Thread.sleep(LOOK_MS);
        look();
      } catch (InterruptedException e) {
        return;
      } catch (Throwable e) { // including effects of a fault, such as OutOfMemoryError
        LOG.warn("Executing an order of the fault harness failed; trying again", e);
      }
    }
  }

  /**
   * Carries out and answers the order, if it is a new one. A test calls it in place of the thread.
   */
  void look() throws IOException {
    if (!Files.exists(orders)) {
      return;
    }
    // Attributes need no descriptor, of which a fault may leave none.
    BasicFileAttributes attributes = Files.readAttributes(orders, BasicFileAttributes.class);
    OrderFile written = new OrderFile(attributes.lastModifiedTime(), attributes.fileKey());
    if (written.equals(answered)) {
      return;
    }
    Order order = JsonFile.read(orders, Order.class);
    if (!order.isSameAs(decisions.order())) {
      decisions = decisions(order);
      isCallbackDue = true;
    }
    if (isCallbackDue) {
      disturbed.run();
      isCallbackDue = false;
    }
    JsonFile.write(answer, status.apply(order.sequence()));
    answered = written;
  }

  private Decisions decisions(Order order) {
    // Neighbouring seeds of a Random give similar first numbers.
    long mixed = new SplittableRandom(order.seed() + executorId.hashCode()).nextLong();
    return new Decisions(order, new Random(mixed));
  }

  /** Returns true if the injection acts now; counts it. */
  boolean strikes(Injection what) {
    Decisions now = decisions;
    Double rate = now.order().rates().get(what);
    boolean strikes = rate != null && now.next() < rate;
    if (strikes) {
      hits.computeIfAbsent(what, _ -> new LongAdder()).increment();
    }
    return strikes;
  }

  /** Returns true if the injection acts now and this executor is the victim. */
  boolean strikesHere(Injection what) {
    return isVictim() && strikes(what);
  }

  /**
   * Stops this process by SIGSTOP for longer than a lease, if the event is ordered for this
   * executor; once for each order. The calling thread waits for it. Other threads may run on for an
   * instant, since another process sends the signals.
   */
  void stopAt(Injection event) {
    Order order = decisions.order();
    if (order == stoppedBy || !strikesHere(event)) {
      return;
    }
    stoppedBy = order;
    // faults.txt has the same time.
    long pid = ProcessHandle.current().pid();
    String signals = "kill -STOP %1$d; sleep 7; kill -CONT %1$d".formatted(pid);
    try {
      new ProcessBuilder("sh", "-c", signals).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns how often each injection has acted since the executor's start. */
  Map<Injection, Long> hits() {
    Map<Injection, Long> counts = new EnumMap<>(Injection.class);
    hits.forEach((what, count) -> counts.put(what, count.sum()));
    return counts;
  }

  /** Returns true if the present order contains the injection. */
  boolean mayStrike(Injection what) {
    return decisions.order().rates().containsKey(what);
  }

  /** Returns true if the present order disturbs control connections. */
  boolean disturbsControl() {
    return decisions.order().rates().keySet().stream().anyMatch(Injection::isOfControlConnections);
  }

  /** Returns a random number from 0 to {@code bound - 1}. */
  int choose(int bound) {
    return (int) (decisions.next() * bound);
  }

  long victim() {
    return decisions.order().victim();
  }

  boolean isVictim() {
    return victim() == ProcessHandle.current().pid();
  }

  /**
   * Returns the bytes of live objects in this JVM's heap, in use after the last collection of each
   * memory pool. Collects no garbage. The agent's thread calls it in executors, the main thread in
   * the driver.
   */
  public static long liveHeapBytes() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getCollectionUsage)
        .filter(Objects::nonNull)
        .mapToLong(MemoryUsage::getUsed)
        .sum();
  }

  /**
   * Faults that every executor injects until the next order. {@code Cluster} writes it in the
   * driver; {@link ChaosAgent} reads it.
   *
   * @param sequence a larger number than that of the order before
   * @param seed seed of the decisions
   * @param rates probabilities of the injections
   * @param victim process id, for injections into one executor; 0 for none
   */
  public record Order(long sequence, long seed, Map<Injection, Double> rates, long victim) {
    public static final Order NONE = new Order(0, 0, Map.of(), 0);

    /** Returns the same order with the next sequence, to get new answers only. */
    public Order again() {
      return new Order(sequence + 1, seed, rates, victim);
    }

    boolean isSameAs(Order other) {
      return equals(new Order(sequence, other.seed, other.rates, other.victim));
    }
  }

  /**
   * State of an executor, as its agent reports it. {@link ChaosShuffleManager} creates it on the
   * agent's thread; {@code Cluster} reads it in the driver.
   *
   * @param sequence sequence of the last order that it has taken
   * @param hits how often each injection has acted since its start
   * @param servedRegions memory regions that peers may READ
   * @param readingQueuePairs queue pairs through which it READs
   * @param servingQueuePairs queue pairs through which peers READ
   * @param mostBroken maximum of outstanding READs of a queue pair that it broke on purpose
   * @param underWay READs that have no completion yet
   * @param overlaps READs so far that were posted into memory of an outstanding READ
   * @param shuffleFiles names of the shuffle files in its local directories
   * @param heapBytes bytes of live objects after the last collections
   * @param counters Sluice's counters
   */
  public record Status(
      long sequence,
      Map<Injection, Long> hits,
      int servedRegions,
      int readingQueuePairs,
      int servingQueuePairs,
      long mostBroken,
      int underWay,
      long overlaps,
      List<String> shuffleFiles,
      long heapBytes,
      Map<String, Long> counters) {

    /** Returns the blocks that it has READ since its start; batch fetches may include its own. */
    public long readBlocks() {
      return counters.getOrDefault("read.blocks", 0L);
    }
  }
}
