package dev.sluice.benchmarks.chaos.inject;

import dev.sluice.benchmarks.JsonFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import org.apache.commons.lang3.function.FailableRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's end of the harness: reads orders from a file and answers each with a file of its
 * own that says what the executor holds. Files, because every other way between driver and executor
 * is what the harness disturbs. One thread looks every 10 ms; any thread asks what is to go wrong.
 */
final class ChaosAgent {
  private static final Logger LOG = LoggerFactory.getLogger(ChaosAgent.class);
  private static final long LOOK_MS = 10;

  private final Path orders;
  private final Path answer;
  private final String executorId;
  private final LongFunction<Status> status;
  private final FailableRunnable<IOException> disturbed;
  private FileTime seen = FileTime.fromMillis(0);
  private volatile Decisions decisions;
  private volatile Order stoppedBy;
  private final Map<Injection, LongAdder> hits = new ConcurrentHashMap<>();

  /** An order with the generator of its decisions, which threads share. */
  private record Decisions(Order order, Random random) {
    double next() {
      return random.nextDouble();
    }
  }

  /**
   * @param directory shared with the driver
   * @param status what the executor holds, by the order's sequence
   * @param disturbed called when something else is ordered, on the agent's thread
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
      } catch (Throwable e) { // also what a fault has brought about, such as an OutOfMemoryError
        LOG.warn("The order cannot be taken", e);
      }
    }
  }

  private void look() throws IOException {
    if (!Files.exists(orders)) {
      return;
    }
    FileTime written = Files.getLastModifiedTime(orders);
    if (written.equals(seen)) {
      return;
    }
    Order order = JsonFile.read(orders, Order.class);
    if (!order.isSameAs(decisions.order())) {
      decisions = decisions(order);
      disturbed.run();
    }
    JsonFile.write(answer, status.apply(order.sequence()));
    seen = written;
  }

  private Decisions decisions(Order order) {
    // Neighbouring seeds of a Random begin alike.
    long mixed = new SplittableRandom(order.seed() + executorId.hashCode()).nextLong();
    return new Decisions(order, new Random(mixed));
  }

  /** Whether it is to happen now. */
  boolean strikes(Injection what) {
    Decisions now = decisions;
    Double rate = now.order().rates().get(what);
    boolean strikes = rate != null && now.next() < rate;
    if (strikes) {
      hits.computeIfAbsent(what, _ -> new LongAdder()).increment();
    }
    return strikes;
  }

  /** Whether it is to happen to this executor now. */
  boolean strikesHere(Injection what) {
    return isVictim() && strikes(what);
  }

  /**
   * SIGSTOP of this process for longer than a lease, if that is to happen here now; once for each
   * order. The calling thread goes no further before that; others may, for an instant: another
   * process sends the signals.
   */
  void stopAt(Injection event) {
    Order order = decisions.order();
    if (order == stoppedBy || !strikesHere(event)) {
      return;
    }
    stoppedBy = order;
    String signals = "kill -STOP %1$d; sleep 7; kill -CONT %1$d";
    try {
      new ProcessBuilder("sh", "-c", signals.formatted(ProcessHandle.current().pid()))
          .start()
          .waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How often what was ordered has gone wrong since the executor's start. */
  Map<Injection, Long> hits() {
    Map<Injection, Long> counts = new EnumMap<>(Injection.class);
    hits.forEach((what, count) -> counts.put(what, count.sum()));
    return counts;
  }

  /** Whether it may happen at all. */
  boolean mayStrike(Injection what) {
    return decisions.order().rates().containsKey(what);
  }

  /** Whether anything may happen to control connections. */
  boolean disturbsControl() {
    return decisions.order().rates().keySet().stream().anyMatch(Injection::isOfControlConnections);
  }

  /** A number from 0 to below {@code bound}. */
  int choose(int bound) {
    return (int) (decisions.next() * bound);
  }

  long victim() {
    return decisions.order().victim();
  }

  boolean isVictim() {
    return victim() == ProcessHandle.current().pid();
  }
}
