// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.junit.jupiter.api.Test;

/**
 * The order of requests by HTTP to a host that answers a request with none of its map outputs if
 * one of them is lost. Hadoop waits after each failed request.
 */
final class HttpOutputsTest {
  private static final String HOST = "host:13562";

  private final HttpOutputs outputs = new HttpOutputs();

  @Test
  void aLostMapOutputCostsOneMoreFailedRequest() {
    List<TaskAttemptID> known = outputs(HttpReason.PEER, 100);
    assertThat(failuresUntilTheRestIsFetched(known, Set.of(known.get(0)))).isEqualTo(2);
  }

  @Test
  void mapOutputsThatAreSaidToBeMissingDoNotFailTogetherForever() {
    List<TaskAttemptID> known = outputs(HttpReason.NOT_REGISTERED, 20);
    assertThat(failuresUntilTheRestIsFetched(known, Set.of(known.get(3)))).isLessThan(3);
  }

  @Test
  void severalLostMapOutputsAreSetApart() {
    List<TaskAttemptID> known = outputs(HttpReason.PEER, 60);
    Set<TaskAttemptID> lost = Set.of(known.get(0), known.get(1), known.get(2), known.get(40));
    assertThat(failuresUntilTheRestIsFetched(known, lost)).isLessThan(12);
  }

  @Test
  void allMapOutputsOfAHostThatIsDownAreTried() {
    List<TaskAttemptID> known = outputs(HttpReason.PEER, 100);
    Map<TaskAttemptID, Integer> tries = new HashMap<>();
    for (int request = 0; request < 15; request++) {
      List<TaskAttemptID> some = outputs.next(HOST, known);
      some.forEach(each -> tries.merge(each, 1, Integer::sum));
      outputs.failed(HOST, some);
    }
    assertThat(tries).hasSize(100);
    assertThat(tries.values().stream().mapToInt(each -> each).sum())
        .as("map outputs of failed requests, of which the scheduler hears")
        .isGreaterThanOrEqualTo(150);
  }

  private List<TaskAttemptID> outputs(HttpReason reason, int number) {
    List<TaskAttemptID> all =
        IntStream.range(0, number)
            .mapToObj(map -> "attempt_1700000000000_0012_m_%06d_0".formatted(map))
            .map(TaskAttemptID::forName)
            .collect(Collectors.toList());
    all.forEach(each -> outputs.add(each, reason, HOST, "scripted"));
    return all;
  }

  /** Hadoop puts the map outputs of a failed request back before the others. */
  private int failuresUntilTheRestIsFetched(List<TaskAttemptID> known, Set<TaskAttemptID> lost) {
    List<TaskAttemptID> left = new ArrayList<>(known);
    int failures = 0;
    while (!lost.containsAll(left)) {
      assertThat(failures).isLessThan(1_000);
      List<TaskAttemptID> some = outputs.next(HOST, left);
      left.removeAll(some);
      if (some.stream().anyMatch(lost::contains)) {
        failures++;
        outputs.failed(HOST, some);
        left.addAll(0, some);
      }
    }
    return failures;
  }
}
