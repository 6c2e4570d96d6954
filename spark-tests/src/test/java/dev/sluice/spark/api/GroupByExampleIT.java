// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.examples.GroupByExample;
import dev.sluice.spark.scenarios.LocalCluster;
import dev.sluice.spark.scenarios.PathAssert;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The example for users of Spark READs all of its remote bytes, and prints how many. */
final class GroupByExampleIT {
  private static final Pattern PRINTED = Pattern.compile("1000 groups\\R(\\d+) bytes by READ\\R");

  @Test
  void itsRemoteBytesAreReadAndPrinted() {
    try (LocalCluster cluster = LocalCluster.start()) {
      assertThat(GroupByExample.groups(cluster.context())).isEqualTo(1_000);
      PathAssert.allRead(cluster);
      long readByFirstRun = cluster.totals().readBytes();
      String output = printedByMain();
      Matcher printed = PRINTED.matcher(output);
      assertThat(printed.matches()).as(output).isTrue();
      assertThat(Long.parseLong(printed.group(1))).isGreaterThanOrEqualTo(readByFirstRun);
    }
  }

  /** Runs the example's main method. It takes the context that is there, and stops it. */
  private static String printedByMain() {
    PrintStream original = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      GroupByExample.main(new String[0]);
    } finally {
      System.setOut(original);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }
}
