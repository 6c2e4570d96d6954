// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import dev.sluice.spark.ui.SluiceUpdate.Place;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns once if executors and node daemons of an application have different providers: they do not
 * READ from each other. {@link UiFeed} makes it, and calls it on its thread. Waits until two checks
 * in a row find the same numbers, so that one line has the executors that start together. With
 * dynamic allocation the numbers may never stay; the tenth check warns then.
 */
final class MixedProviders {
  private static final Logger LOG = LoggerFactory.getLogger(MixedProviders.class);

  private static final String SOFT = "soft";
  private static final String SAME =
      " spark.shuffle.rdma.provider=soft gives all executors the same provider";

  /** Checks that find different providers in changing numbers, before the warning. */
  private static final int MOST_CHECKS = 10;

  private Map<String, Long> seen = Map.of();
  private int checks;
  private boolean said;

  /**
   * Looks at the places of the executors that live and of node daemons.
   *
   * @param places by name, such as "executor 7"
   */
  void look(Map<String, Place> places) {
    if (said) {
      return;
    }
    Map<String, Long> counts =
        places.values().stream()
            .collect(Collectors.groupingBy(Place::provider, TreeMap::new, Collectors.counting()));
    checks = counts.size() > 1 ? checks + 1 : 0;
    if (counts.size() > 1 && (counts.equals(seen) || checks == MOST_CHECKS)) {
      said = true;
      LOG.warn(warning(places, counts));
    }
    seen = counts;
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
    return ("Executors and node daemons have different RDMA providers (%s). They do not READ from"
            + " each other: blocks between them go by Spark's own transfer.%s%s")
        .formatted(numbers, reason.orElse(""), counts.containsKey(SOFT) ? SAME : "");
  }

  private static String reason(String name, Place place) {
    String at = place.address().isEmpty() ? "" : " at " + place.address();
    return " %s%s has %s, because %s. Run the doctor on its node."
        .formatted(
            Character.toUpperCase(name.charAt(0)) + name.substring(1),
            at,
            place.provider(),
            place.reason());
  }
}
