// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.node.NodeStatus.ApplicationStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The page for people: the node's state, sums over all applications, and a row for each. {@code
 * status.html} has its text and style, in which names in braces stand for values. No state; any
 * thread.
 */
final class StatusPage {
  private static final String TEMPLATE = "status.html";
  private static final String NO_ROWS =
      "<tr><td class=\"none\" colspan=\"%d\">This node serves no application.</td></tr>";
  private static final String UNITS = "KMGTPE";
  private static final int UNIT = 1024;

  /** Metrics of a row, in their order. */
  private static final List<NodeMetric> COLUMNS = List.of(NodeMetric.values());

  private StatusPage() {}

  static String html(NodeStatus status) {
    return template()
        .replace("{version}", escaped(NodeMain.version()))
        .replace("{state}", status.draining() ? "draining" : "serving")
        .replace("{unbound}", unbound(status.unbound()))
        .replace("{applications}", count(status.applications().size()))
        .replace("{held}", bytes(status.total(NodeMetric.BYTES)))
        .replace("{registered}", bytes(status.total(NodeMetric.REGISTERED_BYTES)))
        .replace("{staging}", bytes(status.total(NodeMetric.STAGING_BYTES_IN_USE)))
        .replace("{queuePairs}", count(status.total(NodeMetric.QUEUE_PAIRS_SERVING)))
        .replace("{oldest}", oldest(status.applications()))
        .replace("{columns}", columns())
        .replace("{rows}", rows(status.applications()));
  }

  private static String template() {
    try (InputStream page = StatusPage.class.getResourceAsStream(TEMPLATE)) {
      return new String(Objects.requireNonNull(page).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String unbound(Map<String, String> reasons) {
    StringBuilder lines = new StringBuilder();
    reasons.forEach(
        (setting, reason) ->
            lines.append(
                "<p class=\"unbound\">%s cannot be bound: %s</p>"
                    .formatted(setting, escaped(reason))));
    return lines.toString();
  }

  private static String oldest(List<ApplicationStatus> oldestFirst) {
    return oldestFirst.isEmpty() ? "none" : time(oldestFirst.getFirst().of(NodeMetric.AGE));
  }

  private static String columns() {
    StringBuilder columns = new StringBuilder();
    for (NodeMetric metric : COLUMNS) {
      columns.append(
          "<th scope=\"col\" title=\"%s\">%s</th>"
              .formatted(escaped(metric.documentation()), metric.title()));
    }
    return columns.toString();
  }

  private static String rows(List<ApplicationStatus> applications) {
    if (applications.isEmpty()) {
      return NO_ROWS.formatted(COLUMNS.size() + 4);
    }
    StringBuilder rows = new StringBuilder();
    for (ApplicationStatus each : applications) {
      rows.append(
          "<tr><th scope=\"row\">%s</th><td class=\"text\">%s</td><td class=\"text\">%s</td><td>%d</td>"
              .formatted(
                  escaped(each.name()), each.framework(), escaped(each.device()), each.port()));
      for (NodeMetric metric : COLUMNS) {
        rows.append("<td>%s</td>".formatted(value(metric, each.of(metric))));
      }
      rows.append("</tr>\n");
    }
    return rows.toString();
  }

  private static String value(NodeMetric metric, long value) {
    return switch (metric.unit()) {
      case BYTES -> bytes(value);
      case SECONDS -> time(value);
      case COUNT -> count(value);
    };
  }

  private static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }

  /** Returns bytes with three or four digits and a unit, such as 1.50 GiB. */
  static String bytes(long bytes) {
    if (bytes < UNIT) {
      return bytes + " B";
    }
    int exponent = (Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes)) / 10;
    double value = bytes / Math.pow(UNIT, exponent);
    int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
    String digits = String.format(Locale.ROOT, "%." + decimals + "f", value);
    return digits + " " + UNITS.charAt(exponent - 1) + "iB";
  }

  /** Returns a time with its two largest units, such as 3 h 12 min. */
  static String time(long seconds) {
    Duration time = Duration.ofSeconds(seconds);
    if (time.toDays() > 0) {
      return "%d d %d h".formatted(time.toDays(), time.toHoursPart());
    }
    if (time.toHours() > 0) {
      return "%d h %d min".formatted(time.toHours(), time.toMinutesPart());
    }
    return time.toMinutes() > 0
        ? "%d min %d s".formatted(time.toMinutes(), time.toSecondsPart())
        : seconds + " s";
  }
}
