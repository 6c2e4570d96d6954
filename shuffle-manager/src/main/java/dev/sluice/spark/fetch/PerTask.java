// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Holds one object per task of an executor, from the task's first request until it completes. A
 * task gets one completion listener, however often it asks: a task may make 100,000 readers. {@code
 * SluiceShuffle} and {@link FetchContext} each have one. Any thread, without a lock: where two
 * threads make the object of a task at once, one of the objects is dropped and never ended.
 *
 * @param <T> type of the objects
 */
public final class PerTask<T> {
  private final Map<Long, T> running = new ConcurrentHashMap<>();
  private final Supplier<T> begin;
  private final Consumer<T> end;

  /**
   * @param begin makes the object; called without a lock
   * @param end called once, when the task completes, on the thread that completes it
   */
  public PerTask(Supplier<T> begin, Consumer<T> end) {
    this.begin = begin;
    this.end = end;
  }

  /**
   * Returns the task's object. For a task that has completed, the object has ended already, or ends
   * as soon as the completing thread gets to it.
   */
  public T of(TaskContext task) {
    T known = running.get(task.taskAttemptId());
    if (known != null) {
      return known;
    }
    T added = begin.get();
    known = running.putIfAbsent(task.taskAttemptId(), added);
    if (known != null) {
      return known;
    }
    TaskCompletionListener ended =
        context -> {
          running.remove(context.taskAttemptId(), added);
          end.accept(added);
        };
    task.addTaskCompletionListener(ended);
    return added;
  }

  /** Returns the number of tasks that have an object. */
  int size() {
    return running.size();
  }
}
