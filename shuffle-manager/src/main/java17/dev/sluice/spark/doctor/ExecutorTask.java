// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Main;
import dev.sluice.doctor.Platform;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.function.FlatMapFunction;

/**
 * Checks the executor on which it runs. {@link Doctor} makes one for each executor and Spark sends
 * it there; the executor's task thread calls it. It loads the checks by name, since the executor's
 * JVM may be too old for them.
 */
final class ExecutorTask implements FlatMapFunction<Iterator<Integer>, ExecutorReport> {
  private static final long serialVersionUID = 1L;
  private static final String DOCTOR = "dev.sluice.spark.doctor.executor.ExecutorDoctor";

  @Override
  public Iterator<ExecutorReport> call(Iterator<Integer> nothing) throws Exception {
    return List.of(new ExecutorReport(SparkEnv.get().executorId(), findings())).iterator();
  }

  private static List<Finding> findings() throws Exception {
    String lack = Platform.lack(Runtime.version().feature());
    if (!lack.isEmpty()) {
      return List.of(Main.oldJava(lack));
    }
    @SuppressWarnings("unchecked") // it is ours
    Callable<List<Finding>> doctor =
        (Callable<List<Finding>>)
            Class.forName(DOCTOR).asSubclass(Callable.class).getConstructor().newInstance();
    return doctor.call();
  }
}
