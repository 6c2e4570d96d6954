package dev.sluice.spark.read;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** The limits of the tasks that run in an executor, until they complete. Any thread. */
final class TaskLimits {
  private final long bytes;
  private final Map<Long, TaskLimit> running = new ConcurrentHashMap<>();

  /**
   * @param bytes of each task
   */
  TaskLimits(long bytes) {
    this.bytes = bytes;
  }

  /**
   * The limit of all that a task reads.
   *
   * @param context null for one who is in no task, and has its own
   */
  TaskLimit of(TaskContext context) {
    TaskLimit added = new TaskLimit(bytes);
    if (context == null) {
      return added;
    }
    TaskLimit known = running.putIfAbsent(context.taskAttemptId(), added);
    if (known != null) {
      return known;
    }
    TaskCompletionListener ended = task -> running.remove(task.taskAttemptId());
    context.addTaskCompletionListener(ended);
    return added;
  }
}
