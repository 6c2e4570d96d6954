package dev.sluice.spark.doctor.executor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.check.Check;
import dev.sluice.doctor.check.Checks;
import dev.sluice.doctor.check.Checkup;
import dev.sluice.spark.conf.SluiceConf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.spark.SparkEnv;

/** Asks all that can be asked of one executor. Made and called by a task. */
public final class ExecutorDoctor implements Callable<List<Finding>> {
  @Override
  public List<Finding> call() throws Exception {
    SparkEnv env = SparkEnv.get();
    SluiceConf conf = new SluiceConf(env.conf());
    List<Finding> findings = new ArrayList<>(new Checkup().of(checks(env, conf)));
    whyNotRead(conf)
        .ifPresent(
            why ->
                findings.add(
                    Finding.warn("reads", "none, because of " + why, "docs/configuration.md")));
    return findings;
  }

  private static List<Check> checks(SparkEnv env, SluiceConf conf) throws IOException {
    return isOff(conf) ? List.of() : Checks.of(ExecutorPatient.of(env, conf));
  }

  private static boolean isOff(SluiceConf conf) {
    return conf.provider().equals("off");
  }

  /** What of the configuration has blocks go by Spark's own transfer, whatever this node can do. */
  private static Optional<String> whyNotRead(SluiceConf conf) {
    if (isOff(conf)) {
      return Optional.of("spark.shuffle.rdma.provider=off");
    }
    return conf.readsForbidden()
        ? Optional.of("Spark's network encryption without spark.shuffle.rdma.allowPlaintext")
        : conf.offReason();
  }
}
