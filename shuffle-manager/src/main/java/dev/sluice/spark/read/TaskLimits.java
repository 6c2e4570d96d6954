package dev.sluice.spark.read;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** The limits of the tasks that run in an executor, until they complete. Any thread. */
final class TaskLimits {
  private final Map<Long, TaskLimit> running = new ConcurrentHashMap<>();

  /**
   * The limit that all readers of a task share.
   *
   * @param bytes as the first of them says
   */
  TaskLimit of(TaskContext context, long bytes) {
    long task = context.taskAttemptId();
    TaskLimit added = new TaskLimit(bytes);
    TaskLimit limit = running.putIfAbsent(task, added);
    if (limit != null) {
      return limit;
    }
    TaskCompletionListener ended = _ -> running.remove(task);
    context.addTaskCompletionListener(ended);
    return added;
  }
}
