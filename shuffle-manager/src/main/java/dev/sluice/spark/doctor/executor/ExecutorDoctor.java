// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor.executor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.check.CheckRunner;
import dev.sluice.doctor.check.Checks;
import dev.sluice.spark.conf.SluiceConf;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.SparkEnv;

/**
 * Runs all checks of one executor. {@code ExecutorTask} makes it by its name and calls it on the
 * task's thread, which waits for each check within the limits of {@link CheckRunner}.
 */
public final class ExecutorDoctor implements Callable<List<Finding>> {
  @Override
  public List<Finding> call() throws Exception {
    SparkEnv env = SparkEnv.get();
    SluiceConf conf = new SluiceConf(env.conf());
    return new CheckRunner().of(Checks.of(ExecutorCheckContext.of(env, conf)));
  }
}
