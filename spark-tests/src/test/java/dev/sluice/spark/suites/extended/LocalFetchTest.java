// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites.extended;

import java.util.function.Predicate;
import org.scalatest.TestSuite;
import scala.collection.immutable.Map;
import scala.collection.immutable.Set;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The test of AdaptiveQueryExecSuite that compares numbers of local blocks. With loopback READs
 * there are no local blocks, so this test runs apart from the others, without them.
 */
final class LocalFetchTest {
  private static final String NAME = "SPARK-34091: Batch shuffle fetch in AQE partition coalescing";

  /** Tag that ScalaTest's own annotation gives a test. */
  private static final String IGNORE = "org.scalatest.Ignore";

  private LocalFetchTest() {}

  static Map<String, Set<String>> ignored(TestSuite suite, Map<String, Set<String>> tags) {
    return ignore(suite, tags, NAME::equals);
  }

  static Map<String, Set<String>> alone(TestSuite suite, Map<String, Set<String>> tags) {
    return ignore(suite, tags, name -> !name.equals(NAME));
  }

  @SuppressWarnings("unchecked") // Scala's updated has no element type for Java
  private static Map<String, Set<String>> ignore(
      TestSuite suite, Map<String, Set<String>> tags, Predicate<String> which) {
    Set<String> ignore = CollectionConverters.asScala(java.util.Set.of(IGNORE)).toSet();
    Map<String, Set<String>> all = tags;
    for (String name : CollectionConverters.asJava(suite.testNames())) {
      if (which.test(name)) {
        all = all.updated(name, ignore);
      }
    }
    return all;
  }
}
