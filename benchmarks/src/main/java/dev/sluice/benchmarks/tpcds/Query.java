// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.tpcds.Answer.GoldenAnswer;
import dev.sluice.testkit.Resource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One of the TPC-DS queries (v1.4) of Spark's tests, from Spark's test jar. Command and driver both
 * make it from the name.
 */
record Query(String name) {
  private static final int COUNT = 99;
  private static final Set<Integer> IN_TWO_PARTS = Set.of(14, 23, 24, 39);
  private static final String UNSTABLE = "its answer is not deterministic (SPARK-35327)";
  private static final String NEWER = "Spark's tests check the query of TPC-DS v2.7 instead";

  /** Queries in Spark's TPCDSBase.excludedTpcdsQueries, with the reason. */
  private static final Map<String, String> WITHOUT_GOLDEN_ANSWER =
      Map.of(
          "q6", UNSTABLE, "q75", UNSTABLE, "q34", NEWER, "q64", NEWER, "q74", NEWER, "q78", NEWER);

  /** Returns all queries in the order of their numbers. */
  static List<Query> all() {
    List<Query> queries = new ArrayList<>();
    for (int number = 1; number <= COUNT; number++) {
      if (IN_TWO_PARTS.contains(number)) {
        queries.add(new Query("q" + number + "a"));
        queries.add(new Query("q" + number + "b"));
      } else {
        queries.add(new Query("q" + number));
      }
    }
    return List.copyOf(queries);
  }

  /** Returns the queries of a list such as "q1,q14a", in which "all" stands for all queries. */
  static List<Query> listed(String names) {
    return Arrays.stream(names.split(","))
        .flatMap(name -> name.equals("all") ? all().stream() : Stream.of(new Query(name)))
        .toList();
  }

  /** Returns why Spark's suite does not check this query by its golden answer; null if it does. */
  @Nullable String exclusion() {
    return WITHOUT_GOLDEN_ANSWER.get(name);
  }

  String text() {
    return Resource.text(Query.class, "/tpcds/" + name + ".sql");
  }

  /** Returns its answer at scale 1; only for a query that is not {@link #exclusion excluded}. */
  GoldenAnswer golden() {
    String file = "/tpcds-query-results/v1_4/" + name + ".sql.out";
    return GoldenAnswer.parse(Resource.text(Query.class, file));
  }
}
