package dev.sluice.benchmarks.terasort;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.Statistics;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** Collects the results of all sorts, decides whether they are valid, and shows them. */
final class TeraSortReport {
  private static final String FALLBACK_BLOCKS = "fallback.blocks.";
  private static final String FALLBACK_BYTES = "fallback.bytes.";

  private final TeraData.Input input;
  private final boolean expectCorruption;
  private final Map<Shuffle, List<SortResult>> results = new EnumMap<>(Shuffle.class);
  private final List<String> problems = new ArrayList<>();

  /**
   * @param expectCorruption READs are corrupted on purpose: blocks may then fall back, and some
   *     corruption must have been noticed
   */
  TeraSortReport(TeraData.Input input, boolean expectCorruption) {
    this.input = input;
    this.expectCorruption = expectCorruption;
    for (Shuffle shuffle : Shuffle.values()) {
      results.put(shuffle, new ArrayList<>());
    }
  }

  /**
   * @param outputProblems what is wrong with the sort's output
   */
  void add(Shuffle shuffle, SortResult result, List<String> outputProblems) {
    List<SortResult> runs = results.get(shuffle);
    runs.add(result);
    List<String> found = new ArrayList<>(outputProblems);
    if (shuffle == Shuffle.SLUICE) {
      addTransferProblems(result, found);
    }
    found.forEach(problem -> problems.add(shuffle.label() + " " + runs.size() + ": " + problem));
  }

  private void addTransferProblems(SortResult result, List<String> found) {
    long read = result.total("read.bytes");
    long fallback = result.sum(FALLBACK_BYTES);
    if (read + fallback != result.remoteBytes()) {
      found.add(
          "%d bytes by READ and %d by fallback are not the %d remote bytes that Spark counted"
              .formatted(read, fallback, result.remoteBytes()));
    }
    if (!expectCorruption && result.sum(FALLBACK_BLOCKS) != 0) {
      found.add("blocks fell back to Spark's own transfer: " + result.byReason(FALLBACK_BLOCKS));
    }
    if (expectCorruption && result.total("corruptions") == 0) {
      found.add("no corrupted READ was noticed");
    }
  }

  boolean valid() {
    return problems.isEmpty();
  }

  /** Sums over all sorts through Sluice. */
  private long sluiceSum(ToLongFunction<SortResult> value) {
    return results.get(Shuffle.SLUICE).stream().mapToLong(value).sum();
  }

  private Map<String, Long> fallbacks() {
    Map<String, Long> byReason = new TreeMap<>();
    for (SortResult result : results.get(Shuffle.SLUICE)) {
      result
          .byReason(FALLBACK_BLOCKS)
          .forEach((reason, blocks) -> byReason.merge(reason, blocks, Long::sum));
    }
    return byReason;
  }

  String table() {
    StringBuilder table = new StringBuilder();
    table.append("%d records, checksum %s%n".formatted(input.records(), input.checksum()));
    for (Shuffle shuffle : Shuffle.values()) {
      double[] seconds = seconds(shuffle);
      if (seconds.length == 0) {
        continue;
      }
      table.append("%-8s".formatted(shuffle.label()));
      for (double second : seconds) {
        table.append("%8.2f s".formatted(second));
      }
      table.append("   median %.2f s%n".formatted(Statistics.median(seconds)));
    }
    if (seconds(Shuffle.SLUICE).length > 0 && seconds(Shuffle.STOCK).length > 0) {
      table.append(
          "ratio   %.2f (stock / sluice, medians: above 1 Sluice is faster)%n"
              .formatted(
                  Statistics.median(seconds(Shuffle.STOCK))
                      / Statistics.median(seconds(Shuffle.SLUICE))));
    }
    if (seconds(Shuffle.SLUICE).length > 0) {
      appendTransfer(table);
    }
    problems.forEach(problem -> table.append("INVALID ").append(problem).append('\n'));
    return table.append(valid() ? "valid\n" : "not valid\n").toString();
  }

  private void appendTransfer(StringBuilder table) {
    SortResult last = results.get(Shuffle.SLUICE).getLast();
    table.append("provider %s, device %s%n".formatted(last.provider(), last.device()));
    table.append(
        "bytes   read %d, local %d, fallback %d; Spark counted %d remote%n"
            .formatted(
                sluiceSum(result -> result.total("read.bytes")),
                sluiceSum(result -> result.total("local.bytes")),
                sluiceSum(result -> result.sum(FALLBACK_BYTES)),
                sluiceSum(SortResult::remoteBytes)));
    table.append(
        "blocks that fell back: %s%n".formatted(fallbacks().isEmpty() ? "none" : fallbacks()));
  }

  String json() throws JsonProcessingException {
    Map<String, Long> bytes = new LinkedHashMap<>();
    bytes.put("read", sluiceSum(result -> result.total("read.bytes")));
    bytes.put("local", sluiceSum(result -> result.total("local.bytes")));
    bytes.put("fallback", sluiceSum(result -> result.sum(FALLBACK_BYTES)));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("valid", valid());
    json.put("records", input.records());
    json.put("checksum", input.checksum());
    List<SortResult> sluice = results.get(Shuffle.SLUICE);
    json.put("provider", sluice.isEmpty() ? null : sluice.getLast().provider());
    json.put("sluice_s", seconds(Shuffle.SLUICE));
    json.put("stock_s", seconds(Shuffle.STOCK));
    json.put("bytes", bytes);
    json.put("fallbacks", fallbacks());
    json.put("spark_remote_bytes", sluiceSum(SortResult::remoteBytes));
    json.put("problems", problems);
    return new ObjectMapper().writeValueAsString(json);
  }

  private double[] seconds(Shuffle shuffle) {
    return results.get(shuffle).stream().mapToDouble(SortResult::seconds).toArray();
  }
}
