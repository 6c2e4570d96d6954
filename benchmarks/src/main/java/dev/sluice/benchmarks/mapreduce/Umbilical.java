// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/**
 * An ApplicationMaster as a task sees it. It knows that map tasks have ended, from the beginning.
 * Immutable; any thread.
 */
final class Umbilical {
  private final TaskCompletionEvent[] ended;

  /**
   * @param ended events of map tasks, in their order
   */
  Umbilical(TaskCompletionEvent... ended) {
    this.ended = ended;
  }

  TaskUmbilicalProtocol protocol() {
    return (TaskUmbilicalProtocol)
        Proxy.newProxyInstance(
            Umbilical.class.getClassLoader(),
            new Class<?>[] {TaskUmbilicalProtocol.class},
            (_, method, arguments) -> answer(method, arguments));
  }

  private Object answer(Method method, Object[] arguments) {
    return switch (method.getName()) {
      case "getMapCompletionEvents" -> events((int) arguments[1], (int) arguments[2]);
      case "statusUpdate" -> {
        AMFeedback feedback = new AMFeedback();
        feedback.setTaskFound(true);
        yield feedback;
      }
      default -> throw new UnsupportedOperationException(method.getName());
    };
  }

  private MapTaskCompletionEventsUpdate events(int from, int most) {
    return new MapTaskCompletionEventsUpdate(
        Arrays.copyOfRange(ended, from, Math.min(ended.length, from + most)), false);
  }
}
