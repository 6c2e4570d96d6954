// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import dev.sluice.doctor.qualify.GainModel.Range;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Text and JSON of an {@link Application}. {@link QualifyCommand} makes it on the main thread and
 * prints it.
 */
final class QualifyText {
  /** Number of stages in the table, those first that would gain most. JSON has all of them. */
  private static final int MOST_ROWS = 20;

  private static final String ROW = "%-8s %7s %9s %13s %11s %13s %12s %9s %9s  %s%n";

  private static final String LIMITS =
      """
      Estimated from storms of half remote blocks with the software provider, on one machine of two
      cores (docs/doctor.md). An adapter, a busy network or a busy disk may differ.
      """;

  /**
   * A stage with its answer.
   *
   * @param id number of the stage, or a word for several
   */
  private record Row(String id, String name, ShuffleReads reads, Gain gain) {
    double high() {
      return gain.saving().map(Range::high).orElse(Double.NEGATIVE_INFINITY);
    }
  }

  private final Application application;
  private final Map<String, Object> reading;
  private final List<String> gaps;
  private final List<Row> rows = new ArrayList<>();
  private final Gain gain;

  /**
   * @param reading facts about the reading of the log, by their names in JSON
   * @param gaps sentences about missing parts of the log; may be empty
   */
  QualifyText(Application application, Map<String, Object> reading, List<String> gaps) {
    this.application = application;
    this.reading = reading;
    this.gaps = gaps;
    for (Stage stage : application.readingStages()) {
      String id = stage.attempt() == 0 ? "" + stage.id() : stage.id() + "." + stage.attempt();
      rows.add(row(id, stage.name(), stage.reads()));
    }
    application.further().ifPresent(reads -> rows.add(row("further", "further stages", reads)));
    gain =
        Gain.ofApplication(rows.stream().map(Row::gain).toList(), application.all().taskSeconds());
  }

  private Row row(String id, String name, ShuffleReads reads) {
    return new Row(id, name, reads, Gain.ofStage(reads, application.manager()));
  }

  /** Returns a summary, a table of stages, and the limits of the estimate. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append(line("application", named(application.name(), application.id())));
    text.append(
        line(
            "log",
            "Spark %s, %s; %s events, %s"
                .formatted(
                    application.sparkVersion().isEmpty()
                        ? "of unknown version"
                        : application.sparkVersion(),
                    application.hasEnded() ? "complete" : "without the application's end",
                    Objects.requireNonNull(reading.get("events")),
                    seconds(application.seconds()))));
    gaps.forEach(gap -> text.append(line("missing", gap)));
    text.append(
        line(
            "task time",
            "%s of %d tasks; the log lacks the metrics of %d"
                .formatted(
                    seconds(application.all().taskSeconds()),
                    application.all().tasks(),
                    application.tasksWithoutMetrics())));
    return text + (rows.isEmpty() ? "" : shuffle()) + verdict() + table();
  }

  private String shuffle() {
    ShuffleReads all = application.all();
    return line(
            "shuffles",
            "%d stages read them%s; %d blocks, %d of them remote, %s"
                .formatted(
                    rows.size(),
                    duringShare(),
                    all.blocks(),
                    all.remoteBlocks(),
                    size(all.bytes())))
        + line(
            "fetch wait",
            "%s, %s of the task time"
                .formatted(
                    seconds(all.waitSeconds()), percent(all.waitSeconds(), all.taskSeconds())))
        + line("serving", "%s of CPU time, by estimate".formatted(seconds(serving(all))));
  }

  private String duringShare() {
    double seconds = application.seconds();
    return seconds == 0
        ? ""
        : ", during %s of the application"
            .formatted(percent(application.readingSeconds(), seconds));
  }

  private String verdict() {
    return line(
        "Sluice",
        "%s%s: %s"
            .formatted(
                gain.verdict().words(),
                gain.saving()
                    .filter(_ -> !rows.isEmpty())
                    .map(saving -> " (saves " + range(saving) + share(saving) + ")")
                    .orElse(""),
                gain.reason()));
  }

  private String share(Range saving) {
    double all = application.all().taskSeconds();
    return all == 0
        ? ""
        : ", %s to %s of the task time"
            .formatted(percent(saving.low(), all), percent(saving.high(), all));
  }

  private String table() {
    if (rows.isEmpty()) {
      return "";
    }
    StringBuilder table = new StringBuilder("\n");
    table.append(
        String.format(
            ROW,
            "stage",
            "tasks",
            "task time",
            "records/block",
            "bytes/block",
            "remote blocks",
            "remote bytes",
            "wait",
            "serving",
            "saves"));
    rows.stream()
        .sorted(Comparator.comparingDouble(Row::high).reversed())
        .limit(MOST_ROWS)
        .forEach(row -> append(table, row));
    if (rows.size() > MOST_ROWS) {
      table.append("and %d more stages; --json has all\n".formatted(rows.size() - MOST_ROWS));
    }
    return table + LIMITS;
  }

  private static void append(StringBuilder table, Row row) {
    ShuffleReads reads = row.reads();
    table.append(
        String.format(
            ROW,
            row.id(),
            reads.tasks(),
            seconds(reads.taskSeconds()),
            reads.blocks() == 0 ? "-" : decimal((double) reads.records() / reads.blocks()),
            reads.blocks() == 0 ? "-" : size(reads.bytes() / reads.blocks()),
            reads.remoteBlocks(),
            size(reads.remoteBytes()),
            seconds(reads.waitSeconds()),
            seconds(serving(reads)),
            row.gain().saving().map(QualifyText::range).orElse("-")));
    table.append(
        String.format(
            "%8s %s: %s (%s)%n",
            "", row.gain().verdict().words(), row.gain().reason(), row.name()));
  }

  private static double serving(ShuffleReads reads) {
    return GainModel.servingSeconds(reads.remoteBlocks());
  }

  private static String named(String name, String id) {
    return name.isEmpty() && id.isEmpty() ? "unknown" : "%s (%s)".formatted(name, id);
  }

  private static String line(String label, String text) {
    return "%-12s %s\n".formatted(label, text);
  }

  private static String range(Range saving) {
    return "%s to %s".formatted(seconds(saving.low()), seconds(saving.high()));
  }

  private static String percent(double part, double all) {
    return all == 0 ? "-" : decimal(100 * part / all) + " %";
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, Math.abs(value) < 10 ? "%.2f s" : "%.0f s", value);
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /** Returns bytes with a binary unit. */
  private static String size(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double) bytes;
    int unit = 0;
    while (value >= 1000 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return (unit == 0 ? Long.toString(bytes) : decimal(value)) + " " + units[unit];
  }

  /** Returns one object; names of numbers end with their units. */
  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("application", application.name());
    fields.put("application_id", application.id());
    fields.put("spark", application.sparkVersion());
    fields.put("shuffle_manager", application.manager());
    fields.putAll(reading);
    fields.put("ended", application.hasEnded());
    fields.put("missing", gaps);
    fields.put("application_seconds", application.seconds());
    fields.put("stages_completed", application.completedStages());
    fields.put("tasks_without_metrics", application.tasksWithoutMetrics());
    fields.put("reading_seconds", application.readingSeconds());
    fields.putAll(reads(application.all()));
    fields.putAll(answer(gain));
    fields.put("stages", rows.stream().map(QualifyText::stageFields).toList());
    return fields;
  }

  private static Map<String, Object> stageFields(Row row) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("stage", row.id());
    fields.put("name", row.name());
    fields.putAll(reads(row.reads()));
    fields.putAll(answer(row.gain()));
    return fields;
  }

  private static Map<String, Object> reads(ShuffleReads reads) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("tasks", reads.tasks());
    fields.put("task_seconds", reads.taskSeconds());
    fields.put("records", reads.records());
    fields.put("blocks", reads.blocks());
    fields.put("remote_blocks", reads.remoteBlocks());
    fields.put("merged_blocks", reads.mergedBlocks());
    fields.put("bytes", reads.bytes());
    fields.put("remote_bytes", reads.remoteBytes());
    fields.put("fetch_wait_seconds", reads.waitSeconds());
    fields.put("serving_cpu_seconds", serving(reads));
    return fields;
  }

  /** A saving that is not known has no fields. */
  private static Map<String, Object> answer(Gain gain) {
    Map<String, Object> fields = new LinkedHashMap<>();
    Optional<Range> saving = gain.saving();
    saving.ifPresent(
        range -> {
          fields.put("saving_low_seconds", range.low());
          fields.put("saving_high_seconds", range.high());
        });
    fields.put("verdict", gain.verdict().name().toLowerCase(Locale.ROOT));
    fields.put("reason", gain.reason());
    return fields;
  }
}
