// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor.executor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.check.Check;
import dev.sluice.doctor.check.CheckRunner;
import dev.sluice.doctor.check.Checks;
import dev.sluice.spark.conf.SluiceConf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
    List<Finding> findings = new ArrayList<>(new CheckRunner().of(checks(env, conf)));
    whyNotRead(conf)
        .ifPresent(
            why ->
                findings.add(
                    Finding.warn(
                        "reads", "no blocks are READ: " + why, "see docs/configuration.md")));
    return findings;
  }

  private static List<Check> checks(SparkEnv env, SluiceConf conf) throws IOException {
    return isOff(conf) ? List.of() : Checks.of(ExecutorCheckContext.of(env, conf));
  }

  private static boolean isOff(SluiceConf conf) {
    return conf.provider().equals("off");
  }

  /** Returns the setting that keeps blocks on Spark's own transport, whatever this node can do. */
  private static Optional<String> whyNotRead(SluiceConf conf) {
    if (isOff(conf)) {
      return Optional.of("spark.shuffle.rdma.provider is off");
    }
    return conf.readsForbidden()
        ? Optional.of(
            "Spark encrypts its network, and spark.shuffle.rdma.allowPlaintext is not set")
        : conf.offReason();
  }
}
