// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.suites.RdmaShuffleSuite;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.scalatest.Args;
import org.scalatest.events.Event;
import org.scalatest.events.SuiteAborted;
import org.scalatest.events.TestFailed;
import org.scalatest.events.TestSucceeded;
import scala.Option;
import scala.jdk.javaapi.OptionConverters;

/**
 * Spark's own ShuffleSuite on a real device: {@link RdmaShuffleSuite} with another provider. It is
 * a JUnit test because the runner of ScalaTest suites knows no conditions and no tags.
 */
@NeedsRdmaDevice
final class ShuffleSuiteLongIT {
  private static final String PROVIDER = "spark.shuffle.rdma.provider";

  /** The tests that were run, with their failures. */
  private final Map<String, Optional<Throwable>> outcomes = new LinkedHashMap<>();

  private final List<String> aborted = new ArrayList<>();

  @TestFactory
  Stream<DynamicTest> passes() {
    String provider = System.setProperty(PROVIDER, "verbs");
    try {
      new RdmaShuffleSuite().run(Option.empty(), args()).waitUntilCompleted();
    } finally {
      if (provider == null) {
        System.clearProperty(PROVIDER);
      } else {
        System.setProperty(PROVIDER, provider);
      }
    }
    assertThat(aborted).isEmpty();
    assertThat(outcomes).isNotEmpty();
    return outcomes.entrySet().stream()
        .map(test -> DynamicTest.dynamicTest(test.getKey(), () -> rethrow(test.getValue())));
  }

  private Args args() {
    return Args.apply(
        this::note,
        Args.apply$default$2(),
        Args.apply$default$3(),
        Args.apply$default$4(),
        Args.apply$default$5(),
        Args.apply$default$6(),
        Args.apply$default$7(),
        Args.apply$default$8(),
        Args.apply$default$9(),
        Args.apply$default$10());
  }

  private void note(Event event) {
    switch (event) {
      case TestSucceeded succeeded -> outcomes.put(succeeded.testName(), Optional.empty());
      case TestFailed failed ->
          outcomes.put(failed.testName(), OptionConverters.toJava(failed.throwable()));
      case SuiteAborted suite -> aborted.add(suite.message());
      default -> {}
    }
  }

  private static void rethrow(Optional<Throwable> failure) throws Throwable {
    if (failure.isPresent()) {
      throw failure.get();
    }
  }
}
