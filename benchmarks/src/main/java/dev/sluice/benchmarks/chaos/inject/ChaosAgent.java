package dev.sluice.benchmarks.chaos.inject;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's end of the harness: reads orders from a file and answers each with a file of its
 * own that says what the executor holds. Files, because every other way between driver and executor
 * is what the harness disturbs. One thread looks every 10 ms; any thread asks what is to go wrong.
 */
final class ChaosAgent {
  private static final Logger LOG = LoggerFactory.getLogger(ChaosAgent.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long LOOK_MS = 10;

  private final Path orders;
  private final Path answer;
  private final String executorId;
  private final LongFunction<Status> status;
  private final Runnable disturbed;
  private FileTime seen = FileTime.fromMillis(0);
  private volatile Decisions decisions;
  private final LongAdder hits = new LongAdder();

  /** An order with the generator of its decisions, which threads share. */
  private record Decisions(Order order, Random random) {
    double next() {
      return random.nextDouble();
    }
  }

  /**
   * @param directory shared with the driver
   * @param status what the executor holds, by the order's sequence
   * @param disturbed called at each order, on the agent's thread
   */
  ChaosAgent(Path directory, String executorId, LongFunction<Status> status, Runnable disturbed) {
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
        look();
        Thread.sleep(LOOK_MS);
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException e) {
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
    Order order = JSON.readValue(orders.toFile(), Order.class);
    decisions = decisions(order);
    disturbed.run();
    Path partial = answer.resolveSibling(answer.getFileName() + ".partial");
    JSON.writeValue(partial.toFile(), status.apply(order.sequence()));
    Files.move(partial, answer, StandardCopyOption.REPLACE_EXISTING);
    seen = written;
  }

  private Decisions decisions(Order order) {
    return new Decisions(order, new Random(order.seed() ^ executorId.hashCode()));
  }

  /** Whether it is to happen now. */
  boolean strikes(Injection what) {
    Decisions now = decisions;
    Double rate = now.order().rates().get(what);
    boolean strikes = rate != null && now.next() < rate;
    if (strikes) {
      hits.increment();
    }
    return strikes;
  }

  /** How often something has gone wrong since the executor's start. */
  long hits() {
    return hits.sum();
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
}
