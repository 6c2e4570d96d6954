// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code doctor qualify} as a user calls it: its output, its errors and its exit status. */
class QualifyCommandTest {
  @TempDir private Path folder;

  private record Result(int status, String out, String err) {
    JsonNode json() throws IOException {
      return new ObjectMapper().readTree(out);
    }
  }

  private static Result run(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int status =
        QualifyCommand.run(
            List.of(arguments),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8));
    return new Result(status, out.toString(UTF_8), err.toString(UTF_8));
  }

  private String write(String log) throws IOException {
    return Files.writeString(folder.resolve("app-1"), log).toString();
  }

  @Test
  void helpIsPrinted() {
    Result help = run("--help");
    assertThat(help.out()).isEqualTo(QualifyCommand.HELP).contains("Exit status: 0");
    assertThat(help.status()).isZero();
  }

  @Test
  void stagesAndTheirSumArePrinted() throws IOException {
    Result result = run(write(Events.application()));
    assertThat(result.out())
        .isEqualTo(
            """
            application  nightly (app-1)
            log          Spark 3.0.1, complete; 16 events, 20 s
            task time    9.00 s of 4 tasks; the log lacks the metrics of 1
            shuffles     2 stages read them, during 25.0 % of the application; 80020 blocks, 40010 of them remote, 78.1 MiB
            fetch wait   0.30 s, 3.3 % of the task time
            serving      0.68 s of CPU time, by estimate
            Sluice       would gain (saves 1.63 s to 1.68 s, 18.1 % to 18.7 % of the task time): sum of its stages, compared with the time of all tasks

            stage      tasks task time records/block bytes/block remote blocks remote bytes      wait   serving  saves
            1              2    2.00 s          10.0     1.0 KiB         40000     39.1 MiB    0.20 s    0.68 s  1.64 s to 1.69 s
                     would gain: many small blocks (stage 1)
            2              1    4.00 s          10.0     1.0 KiB            10     10.0 KiB    0.10 s    0.00 s  -0.01 s to -0.01 s
                     would not gain: few blocks for the task time (stage 2)
            Estimated from storms of half remote blocks with the software provider, on one machine of two
            cores (docs/doctor.md). An adapter, a busy network or a busy disk may differ.
            """);
    assertThat(result.err()).isEmpty();
    assertThat(result.status()).isZero();
  }

  @Test
  void jsonHasAllNumbersOfEachStage() throws IOException {
    Result result = run("--json", write(Events.application()));
    JsonNode json = result.json();
    assertThat(json.get("verdict").asText()).isEqualTo("gain");
    assertThat(json.get("application_id").asText()).isEqualTo("app-1");
    assertThat(json.get("spark").asText()).isEqualTo("3.0.1");
    assertThat(json.get("tasks").asInt()).isEqualTo(4);
    assertThat(json.get("ended").asBoolean()).isTrue();
    assertThat(json.get("stages")).hasSize(2);
    JsonNode stage = json.get("stages").get(0);
    assertThat(stage.get("stage").asText()).isEqualTo("1");
    assertThat(stage.get("blocks").asLong()).isEqualTo(80_000);
    assertThat(stage.get("remote_blocks").asLong()).isEqualTo(40_000);
    assertThat(stage.get("records").asLong()).isEqualTo(800_000);
    assertThat(stage.get("remote_bytes").asLong()).isEqualTo(40_000 * 1024);
    assertThat(stage.get("fetch_wait_seconds").asDouble()).isEqualTo(0.2);
    assertThat(stage.get("saving_low_seconds").asDouble()).isBetween(1.6, 1.7);
    assertThat(json.get("stages").get(1).get("verdict").asText()).isEqualTo("no_gain");
    assertThat(result.status()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"zstd", "lz4", "snappy", "lzf"})
  void compressedLogsHaveTheSameAnswer(String codec) throws IOException {
    Path file = folder.resolve("app-1." + codec);
    Files.write(file, Events.compressed(codec, Events.application()));
    Result result = run(file.toUri().toString());
    assertThat(result.out()).isEqualTo(run(write(Events.application())).out());
    assertThat(result.status()).isZero();
  }

  /** The codec's stream ends in the middle of a block, as that of an application that runs. */
  @ParameterizedTest
  @ValueSource(strings = {"zstd", "lz4", "snappy", "lzf"})
  void compressedLogsThatAreCutAreReadAsFarAsTheyGo(String codec) throws IOException {
    String log = Events.START + Events.readingTask(1, 1000, 20, 20, 1024).repeat(2000) + Events.END;
    byte[] whole = Events.compressed(codec, log);
    Path file = folder.resolve("app-1." + codec + ".inprogress");
    Files.write(file, Arrays.copyOf(whole, whole.length / 2));
    Result result = run(file.toString(), "--json");
    assertThat(result.json().get("ended").asBoolean()).as(result.out()).isFalse();
    assertThat(result.out()).contains("the application has not ended in this log");
    assertThat(result.json().get("events").asLong()).isPositive();
    assertThat(result.err()).isEmpty();
    assertThat(result.status()).isEqualTo(1);
  }

  @Test
  void rolledFilesAreOneLog() throws IOException {
    List<String> lines = Events.application().lines().toList();
    for (int i = 0; i < 3; i++) {
      List<String> some = lines.subList(6 * i, Math.min(6 * (i + 1), lines.size()));
      String part = String.join("\n", some) + "\n";
      Files.write(
          folder.resolve("events_%d_app-1.zstd".formatted(i + 1)), Events.compressed("zstd", part));
    }
    Result result = run(folder.toString());
    assertThat(result.status()).isZero();
    Files.createDirectory(folder.resolve("plain"));
    Path plain = Files.writeString(folder.resolve("plain/app-1"), Events.application());
    assertThat(result.out()).isEqualTo(run(plain.toString()).out());
  }

  @Test
  void malformedLinesAreCounted() throws IOException {
    String log =
        Events.START
            + "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":1,\"Stage Attempt\n"
            + "\u0000\u0000\u0000{garbage\n[]\n{\"Other\":1}\n{\"Event\":7}\n"
            + "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":\"late\"}\n"
            + Events.readingTask(1, 1000, 20_000, 20_000, 1024)
            + Events.END;
    Result result = run(write(log));
    assertThat(result.out())
        .contains(
            "missing      6 lines that are cut, or are no events; the first is line 3",
            "would gain");
    assertThat(result.status()).isEqualTo(1);
  }

  @Test
  void aCutLastLineIsCounted() throws IOException {
    String log = Events.application();
    Result result = run(write(log.substring(0, log.length() - 10)));
    assertThat(result.out())
        .contains("1 lines that are cut", "the log ends before the application");
    assertThat(result.status()).isEqualTo(1);
  }

  @Test
  void anApplicationWithoutShufflesDoesNotGain() throws IOException {
    Result result =
        run(write(Events.START + Events.task(0, 500, Events.reads(0, 0, 0, 0, 0)) + Events.END));
    assertThat(result.out())
        .endsWith("Sluice       would not gain: no task has read a shuffle\n")
        .doesNotContain("fetch wait");
    assertThat(result.status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "dev.sluice.spark.RdmaShuffleManager, ran with Sluice",
    "org.apache.spark.shuffle.celeborn.SparkShuffleManager, blocks are those of org.apache.spark.shuffle.celeborn"
  })
  void logsOfOtherShufflesAreUnknown(String manager, String words) throws IOException {
    String log =
        Events.START + Events.manager(manager) + Events.readingTask(1, 1000, 0, 40_000, 1024);
    Result result = run(write(log + Events.END));
    assertThat(result.out()).contains("Sluice       unknown: " + words);
    assertThat(result.status()).isZero();
  }

  @Test
  void logsThatLackNumbersAreUnknown() throws IOException {
    String noBlocks =
        ",\"Shuffle Read Metrics\":{\"Remote Bytes Read\":7,\"Total Records Read\":1}";
    String log = Events.START + Events.task(1, 1000, noBlocks) + Events.END;
    assertThat(run(write(log)).out()).contains("unknown: the log lacks the number of blocks");
    String merged =
        Events.reads(10, 0, 40_000, 1024, 0)
            .replaceFirst("}$", ",\"Push Based Shuffle\":{\"Merged Remote Blocks Fetched\":9}}");
    log = Events.START + Events.task(1, 1000, merged) + Events.END;
    assertThat(run(write(log)).out()).contains("unknown: push-based shuffle");
    log = Events.START + Events.readingTask(1, 0, 1, 1, 1) + Events.END;
    assertThat(run(write(log)).out()).contains("unknown: the log lacks the run time of tasks");
  }

  /** The table has only the stages that would gain most. */
  @Test
  void moreStagesAreInJsonThanInTheTable() throws IOException {
    StringBuilder log = new StringBuilder(Events.START);
    for (int stage = 0; stage < 30; stage++) {
      log.append(Events.readingTask(stage, 1000, 0, 100L * stage, 1024));
    }
    String path = write(log + Events.END);
    assertThat(run(path).out())
        .contains("\n29 ", "and 9 more stages; --json has all")
        .doesNotContain("\n1 ");
    assertThat(run(path, "--json").json().get("stages")).hasSize(29);
  }

  /** An application of structured streaming may have millions of them. */
  @Test
  void furtherStagesAreAddedUp() {
    Application application = new Application();
    ShuffleReads reads = new ShuffleReads();
    reads.ran(10);
    reads.note("Remote Blocks Fetched", 2);
    for (int stage = 0; stage < Application.MOST_STAGES + 7; stage++) {
      application.stage(stage, 0, "s", 1, 0);
      application.task(stage, 0, reads);
      application.stage(stage, 0, "s", 1, 2);
    }
    assertThat(application.readingStages()).hasSize(Application.MOST_STAGES);
    assertThat(application.further().orElseThrow().tasks()).isEqualTo(7);
    assertThat(application.all().remoteBlocks()).isEqualTo(2 * (Application.MOST_STAGES + 7));
  }

  @Test
  void stagesThatReadNothingAreForgotten() {
    Application application = new Application();
    ShuffleReads writes = new ShuffleReads();
    writes.ran(10);
    application.stage(1, 0, "s", 1, 0);
    application.task(1, 0, writes);
    application.stage(1, 0, "s", 1, 2);
    application.task(1, 0, writes);
    assertThat(application.readingStages()).isEmpty();
    assertThat(application.completedStages()).isEqualTo(1);
    assertThat(application.all().tasks()).isEqualTo(2);
  }

  @Test
  void wrongOptionsAreNamed() {
    assertRefused("EVENTLOG is missing");
    assertRefused("EVENTLOG is missing", "--json");
    assertRefused("there is more than one EVENTLOG", "a", "b");
    assertRefused("there is no option --jason", "a", "--jason");
    assertRefused("hdfs://n/logs/app-1 is not a local path", "hdfs://n/logs/app-1");
  }

  private static void assertRefused(String words, String... arguments) {
    Result result = run(arguments);
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith(words).endsWith(QualifyCommand.HELP);
  }

  @Test
  void whatIsNoEventLogIsNamed() throws IOException {
    Result text = run(write("Hello\nworld\n"));
    assertThat(text.err()).contains("app-1 has no event of Spark");
    assertThat(text.status()).isEqualTo(2);
    Result none = run(folder.resolve("none").toString());
    assertThat(none.err()).contains("none does not exist").hasLineCount(1);
    assertThat(none.status()).isEqualTo(2);
    Path bytes = folder.resolve("app-2.zstd");
    Files.write(bytes, new byte[] {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 1, 2, 3, 4, 5, 6, 7});
    Result broken = run(bytes.toString());
    assertThat(broken.err()).contains("app-2.zstd").doesNotContain("\tat ");
    assertThat(broken.status()).isEqualTo(2);
  }
}
