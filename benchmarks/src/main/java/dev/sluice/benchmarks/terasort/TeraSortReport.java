// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.BenchmarkRun;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.terasort.SortJob.SortResult;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Collects the results of all sorts, decides whether they are valid, and prints them. {@link
 * TeraSortCommand} fills it on its thread. {@code bin/bench row} reads the names in its JSON.
 */
final class TeraSortReport {
  private static final int MB = 1_000_000;

  /** Memory that a driver may have resident, and size of the input up to which this holds. */
  private static final long DRIVER_BYTES = 1_000_000_000;

  private final TeraData.Input input;
  private final boolean expectCorruption;
  private final Map<Shuffle, List<SortResult>> results = new EnumMap<>(Shuffle.class);
  private final List<String> problems = new ArrayList<>();

  /**
   * @param expectCorruption true if READs are corrupted on purpose: blocks may then fall back, and
   *     some corruption must be noticed
   */
  TeraSortReport(TeraData.Input input, boolean expectCorruption) {
    this.input = input;
    this.expectCorruption = expectCorruption;
  }

  /**
   * @param outputProblems problems of the sort's output
   */
  void add(Shuffle shuffle, SortResult result, List<String> outputProblems) {
    List<SortResult> runs = results.computeIfAbsent(shuffle, _ -> new ArrayList<>());
    runs.add(result);
    List<String> found = new ArrayList<>(outputProblems);
    if (result.driverBytes() > DRIVER_BYTES
        && input.records() * TeraData.RECORD_BYTES <= DRIVER_BYTES) {
      found.add(
          "the driver had %d MB resident, but an input of up to 1 GB needs 1000 MB at most"
              .formatted(result.driverBytes() / MB));
    }
    if (shuffle == Shuffle.SLUICE) {
      SluiceTotals totals = result.totals();
      found.addAll(expectCorruption ? corruptionProblems(totals) : totals.problems());
    }
    found.forEach(problem -> problems.add(shuffle.label() + " " + runs.size() + ": " + problem));
  }

  /** Records that a sort failed. */
  void failed(IOException failure) {
    problems.add(failure.getMessage());
  }

  private static List<String> corruptionProblems(SluiceTotals totals) {
    List<String> found = new ArrayList<>();
    if (totals.readBytes() + totals.fallbackBytes() != totals.remoteBytes()) {
      found.add(
          "%d bytes came by READ and %d by fallback, but the engine counted %d remote bytes"
              .formatted(totals.readBytes(), totals.fallbackBytes(), totals.remoteBytes()));
    }
    if (totals.corruptions() == 0) {
      found.add("no corrupted READ was noticed");
    }
    return found;
  }

  /** Returns why the sorts are not valid; empty if they are. */
  List<String> problems() {
    return problems.isEmpty() && results(Shuffle.SLUICE).isEmpty()
        ? List.of("nothing was sorted through Sluice")
        : problems;
  }

  /** Returns the totals of all sorts through Sluice. */
  private SluiceTotals totals() {
    return SluiceTotals.sum(results(Shuffle.SLUICE).stream().map(SortResult::totals));
  }

  /** Returns the most memory that a driver had resident. */
  private long driverBytes() {
    return results.values().stream()
        .flatMap(List::stream)
        .mapToLong(SortResult::driverBytes)
        .max()
        .orElse(0);
  }

  /** Describes the input, the way of the bytes through Sluice, and the memory. */
  String transfer() {
    SluiceTotals totals = totals();
    StringBuilder text = new StringBuilder();
    text.append("%d records, checksum %s%n".formatted(input.records(), input.checksum()));
    text.append("device  %s%n".formatted(totals.devices()));
    text.append(
        "bytes   read %d (%d staged), local %d, fallback %d; the engine counted %d remote%n"
            .formatted(
                totals.readBytes(),
                totals.stagedBytes(),
                totals.localBytes(),
                totals.fallbackBytes(),
                totals.remoteBytes()));
    text.append("blocks that fell back: ");
    text.append(totals.fallbackBlocks().isEmpty() ? "none" : totals.fallbackBlocks()).append('\n');
    text.append(
        "memory  driver %d MB, this command %d MB resident at most%n"
            .formatted(driverBytes() / MB, SortJob.peakBytes() / MB));
    if (expectCorruption) {
      text.append("corrupted READs noticed: %d%n".formatted(totals.corruptions()));
    }
    return text.toString();
  }

  /**
   * @param run the run that produced the result
   */
  String json(BenchmarkRun run) throws JsonProcessingException {
    SluiceTotals totals = totals();
    Map<String, Object> bytes = new LinkedHashMap<>();
    bytes.put("read", totals.readBytes());
    bytes.put("local", totals.localBytes());
    bytes.put("fallback", totals.fallbackBytes());
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("valid", problems().isEmpty());
    json.put("records", input.records());
    json.put("checksum", input.checksum());
    json.put("provider", totals.provider());
    json.put("sluice_s", each(Shuffle.SLUICE, SortResult::seconds));
    json.put("stock_s", each(Shuffle.STOCK, SortResult::seconds));
    json.put("bytes", bytes);
    json.put("fallbacks", totals.fallbackBlocks());
    json.put("device", totals.devices());
    json.put("spark_remote_bytes", totals.remoteBytes());
    json.put("corruptions", totals.corruptions());
    json.put("staged_bytes", totals.stagedBytes());
    json.put("sluice_cpu_s", each(Shuffle.SLUICE, SortResult::cpuSeconds));
    json.put("stock_cpu_s", each(Shuffle.STOCK, SortResult::cpuSeconds));
    json.put("driver_peak_bytes", driverBytes());
    json.put("command_peak_bytes", SortJob.peakBytes());
    json.put("problems", problems());
    json.put("run", run);
    return new ObjectMapper().writeValueAsString(json);
  }

  /**
   * Returns the sorts by each shuffle, pair by pair: time of the whole job, and CPU time of its
   * executors. Returns none if the stock shuffle was not measured.
   */
  List<Comparison> rows(String name) {
    int stock = results(Shuffle.STOCK).size();
    return stock == 0 || stock != results(Shuffle.SLUICE).size()
        ? List.of()
        : List.of(row(name, SortResult::seconds), row(name + "-cpu", SortResult::cpuSeconds));
  }

  private Comparison row(String name, ToDoubleFunction<SortResult> seconds) {
    return Comparison.ofSeconds(name, shuffle -> each(shuffle, seconds));
  }

  private List<SortResult> results(Shuffle shuffle) {
    return results.getOrDefault(shuffle, List.of());
  }

  private double[] each(Shuffle shuffle, ToDoubleFunction<SortResult> of) {
    return results(shuffle).stream().mapToDouble(of).toArray();
  }
}
