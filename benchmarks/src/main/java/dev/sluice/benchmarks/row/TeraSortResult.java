// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.row;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testkit.Spread;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.StreamSupport;

/** Summary of the result of {@code bin/terasort --json}, which {@code TeraSortReport} writes. */
record TeraSortResult(Path file, JsonNode json) {
  /** Bytes of a TeraGen record. */
  private static final int RECORD_BYTES = 100;

  /**
   * Returns size, provider and medians, such as {@code 1.0 GB by verbs: 20.1 s, stock 22.4 s}.
   *
   * @throws IOException if the file cannot be read, has another format, or has no valid result
   */
  static String summary(Path file) throws IOException {
    TeraSortResult result = new TeraSortResult(file, new ObjectMapper().readTree(file.toFile()));
    if (!result.value("valid").asBoolean()) {
      throw new IOException("the sort in " + file + " was not valid");
    }
    return String.format(
        Locale.ROOT,
        "%.1f GB by %s: %.1f s, stock %.1f s",
        result.value("records").asLong() * RECORD_BYTES / 1e9,
        result.value("provider").asText(),
        result.median("sluice_s"),
        result.median("stock_s"));
  }

  private double median(String name) throws IOException {
    JsonNode list = value(name);
    return Spread.median(
        StreamSupport.stream(list.spliterator(), false).mapToDouble(JsonNode::asDouble).toArray());
  }

  /** Returns a field; it must exist and, if it is a list, not be empty. */
  private JsonNode value(String name) throws IOException {
    JsonNode value = json.path(name);
    if (value.isMissingNode() || value.isArray() && value.isEmpty()) {
      throw new IOException(
          file + " was not written by bin/terasort --json: it has no field " + name);
    }
    return value;
  }
}
