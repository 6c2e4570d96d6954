// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.jspecify.annotations.Nullable;

/** An application master that knows map events, or fails. Tests and threads of tasks use it. */
final class ScriptedMaster {
  private final List<TaskCompletionEvent> events = new CopyOnWriteArrayList<>();

  /** First event that was asked for, of each call. */
  final List<Integer> asked = new CopyOnWriteArrayList<>();

  /** Failure of the calls that follow; null if they succeed. */
  volatile @Nullable Exception failure;

  void tell(TaskAttemptID map, TaskCompletionEvent.Status status) {
    events.add(
        new TaskCompletionEvent(
            events.size(), map, map.getTaskID().getId(), true, status, "http://node:13562"));
  }

  TaskUmbilicalProtocol protocol() {
    return (TaskUmbilicalProtocol)
        Proxy.newProxyInstance(
            ScriptedMaster.class.getClassLoader(),
            new Class<?>[] {TaskUmbilicalProtocol.class},
            (proxy, method, arguments) -> answer(method, arguments));
  }

  private Object answer(Method method, Object[] arguments) throws Exception {
    if (method.getName().equals("statusUpdate")) {
      AMFeedback feedback = new AMFeedback();
      feedback.setTaskFound(true);
      return feedback;
    }
    if (!method.getName().equals("getMapCompletionEvents")) {
      throw new UnsupportedOperationException(method.getName());
    }
    int from = (int) arguments[1];
    asked.add(from);
    Exception scripted = failure;
    if (scripted != null) {
      throw scripted;
    }
    int to = Math.min(events.size(), from + (int) arguments[2]);
    return new MapTaskCompletionEventsUpdate(
        events.subList(from, to).toArray(new TaskCompletionEvent[0]), false);
  }
}
