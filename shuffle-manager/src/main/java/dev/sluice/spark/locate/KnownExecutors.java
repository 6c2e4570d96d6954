package dev.sluice.spark.locate;

import dev.sluice.spark.locate.DirectoryMessage.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What an executor knows of the others: the directory's events, as far as it has them. */
final class KnownExecutors {
  private final List<ExecutorEndpoint> byEvent = new ArrayList<>();
  private final Map<String, ExecutorEndpoint> current = new HashMap<>();
  private final Consumer<String> lost;

  /**
   * @param lost is told the ids of executors that are gone
   */
  KnownExecutors(Consumer<String> lost) {
    this.lost = lost;
  }

  synchronized int events() {
    return byEvent.size();
  }

  /** The executor's endpoint; null where it has none. */
  synchronized ExecutorEndpoint endpoint(String executorId) {
    return current.get(executorId);
  }

  /** Whether a record that names the event is the executor's. */
  synchronized boolean isExecutor(int event, String executorId) {
    return event < byEvent.size() && byEvent.get(event).executorId().equals(executorId);
  }

  /** Takes events that follow the first {@code known}; some may have arrived before. */
  void add(int known, List<Event> events) {
    List<String> gone = new ArrayList<>();
    synchronized (this) {
      int have = Math.min(byEvent.size() - known, events.size());
      for (Event event : events.subList(have, events.size())) {
        String executorId = event.endpoint().executorId();
        byEvent.add(event.endpoint());
        if (event.lost()) {
          current.remove(executorId);
          gone.add(executorId);
        } else {
          current.put(executorId, event.endpoint());
          gone.remove(executorId);
        }
      }
    }
    gone.forEach(lost);
  }
}
