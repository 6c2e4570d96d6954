// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import dev.sluice.spark.ui.SluiceUpdate.Place;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns once if {@code auto} has chosen different providers for the executors of an application:
 * they do not READ from each other. {@link UiFeed} makes it, and calls it on its thread. Waits
 * until two checks in a row find the same providers, so that one line has the executors that start
 * together.
 */
final class MixedProviders {
  private static final Logger LOG = LoggerFactory.getLogger(MixedProviders.class);

  private static final String SOFT = "soft";
  private static final String SAME =
      " spark.shuffle.rdma.provider=soft gives all executors the same provider";

  private Set<String> seen = Set.of();
  private boolean said;

  /** Looks at the devices of the executors that live, by executor. */
  void look(Map<String, Place> places) {
    if (said) {
      return;
    }
    Map<String, Long> counts =
        places.values().stream()
            .collect(Collectors.groupingBy(Place::provider, TreeMap::new, Collectors.counting()));
    if (counts.size() > 1 && counts.keySet().equals(seen)) {
      said = true;
      LOG.warn(warning(places, counts));
    }
    seen = counts.keySet();
  }

  static String warning(Map<String, Place> places, Map<String, Long> counts) {
    String numbers =
        counts.entrySet().stream()
            .map(entry -> entry.getKey() + ": " + entry.getValue())
            .collect(Collectors.joining(", "));
    Optional<String> reason =
        places.entrySet().stream()
            .filter(entry -> !entry.getValue().reason().isEmpty())
            .findFirst()
            .map(entry -> reason(entry.getKey(), entry.getValue()));
    return ("Executors have different RDMA providers (%s). They do not READ from each other: blocks"
            + " between them go by Spark's own transfer.%s%s")
        .formatted(numbers, reason.orElse(""), counts.containsKey(SOFT) ? SAME : "");
  }

  private static String reason(String executor, Place place) {
    String at = place.address().isEmpty() ? "" : " at " + place.address();
    return " Executor %s%s has %s, because %s. Run the doctor on its node."
        .formatted(executor, at, place.provider(), place.reason());
  }
}
