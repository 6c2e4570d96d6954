package dev.sluice.rdma.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code bin/terasort --json} has written, in a few words. The file is of this release: its
 * fields are looked for by their names, and no more of JSON is read.
 */
record TeraSortResult(Path file, String json) {
  private static final int RECORD_BYTES = 100;

  /**
   * Size, provider and medians, such as {@code 1.0 GB by verbs: 20.1 s, stock 22.4 s}.
   *
   * @throws IOException for a file that cannot be read, is another one, or has no valid result
   */
  static String summary(Path file) throws IOException {
    TeraSortResult result = new TeraSortResult(file, Files.readString(file));
    if (!result.value("valid", "true|false").equals("true")) {
      throw new IOException(file + ": the sort was not valid");
    }
    long bytes = Long.parseLong(result.value("records", "\\d+")) * RECORD_BYTES;
    return String.format(
        Locale.ROOT,
        "%.1f GB by %s: %.1f s, stock %.1f s",
        bytes / 1e9,
        result.value("provider", "\"\\w+\"").replace("\"", ""),
        result.median("sluice_s"),
        result.median("stock_s"));
  }

  private double median(String name) throws IOException {
    String[] list = value(name, "\\[[^\\]]+\\]").replaceAll("[\\[\\] ]", "").split(",");
    double[] sorted = Arrays.stream(list).mapToDouble(Double::parseDouble).sorted().toArray();
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  private String value(String name, String form) throws IOException {
    Matcher field = Pattern.compile("\"" + name + "\"\\s*:\\s*(" + form + ")").matcher(json);
    if (!field.find()) {
      throw new IOException(file + " is not of bin/terasort --json: it has no " + name);
    }
    return field.group(1);
  }
}
