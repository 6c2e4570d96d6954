// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.testkit.OtherUser;
import dev.sluice.testkit.Poll;
import java.time.Duration;
import java.util.Map;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.util.LongAccumulator;

/**
 * Driver that shuffles, waits until dynamic allocation has released all executors, and shuffles
 * what they left. {@link UserCluster} runs it. The process fails if a check does.
 */
public final class ReleasedExecutors {
  private static final String FALLBACK = "fallback.blocks.";
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final int BLOCKS = SumJob.MAPS * SumJob.REDUCES;

  private ReleasedExecutors() {}

  public static void main(String[] arguments) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      checkUsers(context);
      LongAccumulator mapped = context.sc().longAccumulator();
      JavaPairRDD<Integer, Integer> sums = SumJob.sums(context, mapped);
      assertThat(sums.collectAsMap()).isEqualTo(SumJob.expected());
      await("all map outputs are handed over", () -> total("node.taken") == SumJob.MAPS);
      await(
          "all executors are released",
          () -> context.sc().statusTracker().getExecutorInfos().length == 1); // the driver
      long before = total("read.blocks");

      assertThat(sums.collectAsMap()).isEqualTo(SumJob.expected());
      assertThat(mapped.value()).as("no map task runs again").isEqualTo(SumJob.NUMBERS);
      await("all blocks are READ", () -> total("read.blocks") == before + BLOCKS);
      assertThat(totals()).allSatisfy(ReleasedExecutors::checkNoFallback);
    }
  }

  /** Executors run as the application's user, to whose name Kerberos maps its principal. */
  private static void checkUsers(JavaSparkContext context) throws Exception {
    String user = OtherUser.OWNER.name();
    assertThat(SumJob.users(context)).containsOnly(user);
    UserGroupInformation login = UserGroupInformation.getLoginUser();
    assertThat(login.getShortUserName()).isEqualTo(user);
    assertThat(login.hasKerberosCredentials()).isEqualTo(UserGroupInformation.isSecurityEnabled());
  }

  private static void await(String what, Poll.Condition<RuntimeException> condition)
      throws InterruptedException {
    Poll.await(what, TIMEOUT, condition);
  }

  private static long total(String counter) {
    return totals().getOrDefault(counter, 0L);
  }

  private static Map<String, Long> totals() {
    return ((RdmaShuffleManager) SparkEnv.get().shuffleManager()).totals();
  }

  private static void checkNoFallback(String counter, long value) {
    if (counter.startsWith(FALLBACK)) {
      assertThat(value).as(counter).isZero();
    }
  }
}
