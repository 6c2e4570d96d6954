// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Sizes;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.JsonFile;
import dev.sluice.testkit.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraChecksum;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.jspecify.annotations.Nullable;

/**
 * Hadoop's TeraGen, TeraChecksum and TeraValidate in this process. {@link TeraSortCommand} uses it
 * on its thread. Generated inputs are kept for later runs, and other processes may use and generate
 * the same ones: an input appears complete, by a rename.
 *
 * @param directory directory of the inputs, one folder per size
 * @param temporary directory for temporary files, on the same file system
 * @param parallelism number of map tasks at a time
 */
record TeraData(Path directory, Path temporary, int parallelism) {
  /** Bytes of a TeraGen record: a key of 10 and a value of 90. */
  static final int RECORD_BYTES = 100;

  /** File name with an underscore, which Hadoop's input formats ignore. */
  private static final String MARKER = "_input.json";

  /**
   * Sort buffer in MB of Hadoop's map tasks, which write only a few records for a reduce task. The
   * default is 100.
   */
  private static final int SORT_BUFFER_MB = 10;

  /** Name in the marker; an input of another generator is generated again. */
  private static final String GENERATOR = "TeraGen 3.4.2";

  /** Content of the marker file next to a complete input. */
  private record Marker(String generator, long records, String checksum) {}

  /**
   * A complete and checked input.
   *
   * @param checksum sum of the records' CRC32s in hexadecimal, as TeraChecksum and TeraValidate
   *     write it
   */
  record Input(Path directory, long records, String checksum) {}

  /**
   * Returns the input of that many bytes, rounded up to whole records. If it is missing, generates
   * it, which is a step.
   */
  Input input(long bytes, Progress progress) throws Exception {
    long records = Math.ceilDiv(bytes, RECORD_BYTES);
    Path kept = directory.resolve("input-" + Sizes.format(records * RECORD_BYTES));
    Input existing = readMarker(kept, records);
    if (existing != null) {
      return existing;
    }
    progress.expect(1);
    progress.beginQuietly("generate the input");
    Path made = temporary.resolve("input");
    run(new TeraGen(), Long.toString(records), made.toString());
    JsonFile.write(made.resolve(MARKER), new Marker(GENERATOR, records, checksum(made)));
    Directories.publish(made, kept, data -> readMarker(data, records) != null);
    return requireNonNull(readMarker(kept, records));
  }

  /**
   * Returns the problems of a sorted output: its order by TeraValidate, and the number of records
   * and the checksum compared with the input.
   */
  List<String> problems(Path output, Input input) throws Exception {
    List<String> problems = new ArrayList<>();
    long bytes = dataBytes(output);
    if (bytes != input.records() * RECORD_BYTES) {
      problems.add(
          "output has %d bytes, but %d records have %d"
              .formatted(bytes, input.records(), input.records() * RECORD_BYTES));
    }
    Path report = temporary.resolve("validate");
    run(new TeraValidate(), output.toString(), report.toString());
    String checksum = null;
    for (String line : lines(report)) {
      String[] fields = line.split("\t", 2);
      if (fields[0].equals("checksum")) {
        checksum = fields[1];
      } else {
        problems.add("TeraValidate: " + line.replace('\t', ' '));
      }
    }
    if (!input.checksum().equals(checksum)) {
      problems.add("output has checksum " + checksum + ", but the input has " + input.checksum());
    }
    Directories.delete(report);
    return problems;
  }

  private String checksum(Path data) throws Exception {
    Path report = temporary.resolve("checksum");
    run(new TeraChecksum(), data.toString(), report.toString());
    List<String> lines = lines(report);
    Directories.delete(report);
    if (lines.size() != 1) {
      throw new IOException("TeraChecksum of " + data + " wrote " + lines.size() + " lines, not 1");
    }
    return lines.getFirst().strip();
  }

  private void run(Tool tool, String... arguments) throws Exception {
    Configuration configuration = new Configuration();
    configuration.setInt("mapreduce.job.maps", parallelism);
    configuration.setInt("mapreduce.local.map.tasks.maximum", parallelism);
    configuration.setInt("mapreduce.task.io.sort.mb", SORT_BUFFER_MB);
    configuration.set("hadoop.tmp.dir", temporary.resolve("hadoop").toString());
    int status = ToolRunner.run(configuration, tool, arguments);
    // TeraValidate returns 1 if the output is not sorted; its report says where.
    if (status != 0 && !(tool instanceof TeraValidate)) {
      throw new IOException(tool.getClass().getSimpleName() + " ended with status " + status);
    }
  }

  private static List<String> lines(Path report) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path part : parts(report)) {
      lines.addAll(Files.readAllLines(part));
    }
    return lines;
  }

  static long dataBytes(Path data) throws IOException {
    long bytes = 0;
    for (Path part : parts(data)) {
      bytes += Files.size(part);
    }
    return bytes;
  }

  private static List<Path> parts(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      return files.filter(file -> file.getFileName().toString().startsWith("part-")).toList();
    }
  }

  /** Returns the input if it is complete and has so many records; otherwise null. */
  private static @Nullable Input readMarker(Path data, long records) throws IOException {
    Path file = data.resolve(MARKER);
    if (!Files.exists(file)) {
      return null;
    }
    Marker marker = JsonFile.read(file, Marker.class);
    boolean complete =
        GENERATOR.equals(marker.generator())
            && marker.records() == records
            && dataBytes(data) == records * RECORD_BYTES;
    return complete ? new Input(data, records, marker.checksum()) : null;
  }
}
