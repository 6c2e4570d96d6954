// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * State of a node at a moment, for scripts and for the page for people. Has no secret and no path.
 * Immutable.
 *
 * @param version of Sluice
 * @param java version of Java
 * @param draining true while no further application is let in
 * @param unbound reasons why addresses are not bound, by their settings
 * @param applications those that are served, the oldest first
 */
record NodeStatus(
    String version,
    String java,
    boolean draining,
    Map<String, String> unbound,
    List<ApplicationStatus> applications) {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /**
   * State of an application.
   *
   * @param framework {@code spark} or {@code mapreduce}
   * @param device provider and name of its device
   * @param port where its processes connect
   * @param metrics values of each {@link NodeMetric} by its name
   */
  record ApplicationStatus(
      String name, String framework, String device, int port, Map<String, Long> metrics) {
    private static ApplicationStatus of(ServedApplication application) {
      Map<String, Long> metrics = new LinkedHashMap<>();
      for (NodeMetric metric : NodeMetric.values()) {
        metrics.put(metric.key(), metric.of(application));
      }
      return new ApplicationStatus(
          application.name(),
          application instanceof JobApplication ? "mapreduce" : "spark",
          application.device(),
          application.port(),
          metrics);
    }

    long of(NodeMetric metric) {
      return requireNonNull(metrics.get(metric.key()));
    }
  }

  static NodeStatus of(
      Collection<ServedApplication> applications, boolean draining, Map<String, String> unbound) {
    return new NodeStatus(
        NodeMain.buildVersion().orElse("unknown"),
        Runtime.version().toString(),
        draining,
        new TreeMap<>(unbound),
        applications.stream()
            .map(ApplicationStatus::of)
            .sorted(
                Comparator.comparingLong((ApplicationStatus each) -> -each.of(NodeMetric.AGE))
                    .thenComparing(ApplicationStatus::name))
            .toList());
  }

  /** Sum of a metric over all applications. */
  long total(NodeMetric metric) {
    return applications.stream().mapToLong(each -> each.of(metric)).sum();
  }

  String json() {
    try {
      return JSON.writeValueAsString(this) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e); // Records of strings and numbers have a form in JSON.
    }
  }
}
