package dev.sluice.benchmarks.terasort;

import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.JsonFile;
import dev.sluice.benchmarks.Sizes;
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

/**
 * Hadoop's TeraGen, TeraChecksum and TeraValidate in this process. Used by one thread; the inputs
 * that it makes stay for later runs.
 *
 * @param directory keeps the inputs, one folder a size
 * @param temporary for what is deleted after use, on the same file system
 * @param parallelism map tasks at a time
 */
record TeraData(Path directory, Path temporary, int parallelism) {
  /** Bytes of a TeraGen record: a key of 10 and a value of 90. */
  static final int RECORD_BYTES = 100;

  /** Hadoop's input formats take no file whose name begins so. */
  private static final String MARKER = "_input.json";

  private static final String GENERATOR = "TeraGen 3.4.2";

  /** What is written beside an input when it is complete. */
  private record Marker(String generator, long records, String checksum) {}

  /**
   * An input, complete and checked.
   *
   * @param checksum sum of the records' CRC32s, hexadecimal, as TeraChecksum and TeraValidate write
   */
  record Input(Path directory, long records, String checksum) {}

  /** The input of that many bytes, rounded up to whole records: an earlier one, or a new one. */
  Input input(long bytes) throws Exception {
    long records = Math.ceilDiv(bytes, RECORD_BYTES);
    Path kept = directory.resolve("input-" + Sizes.format(records * RECORD_BYTES));
    Input existing = readMarker(kept, records);
    if (existing != null) {
      return existing;
    }
    Directories.delete(kept);
    Path partial = temporary.resolve("input");
    run(new TeraGen(), Long.toString(records), partial.toString());
    JsonFile.write(partial.resolve(MARKER), new Marker(GENERATOR, records, checksum(partial)));
    Files.move(partial, kept);
    return readMarker(kept, records);
  }

  /**
   * What is wrong with the sorted output of an input: order by TeraValidate, and whether records
   * and checksum are the input's.
   */
  List<String> problems(Path output, Input input) throws Exception {
    List<String> problems = new ArrayList<>();
    long bytes = dataBytes(output);
    if (bytes != input.records() * RECORD_BYTES) {
      problems.add(
          "output has %d bytes, %d records have %d"
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
      problems.add("checksum " + checksum + " is not the input's " + input.checksum());
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
      throw new IOException("TeraChecksum of " + data + " wrote " + lines.size() + " lines");
    }
    return lines.getFirst().strip();
  }

  private void run(Tool tool, String... arguments) throws Exception {
    Configuration configuration = new Configuration();
    configuration.setInt("mapreduce.job.maps", parallelism);
    configuration.setInt("mapreduce.local.map.tasks.maximum", parallelism);
    configuration.set("hadoop.tmp.dir", temporary.resolve("hadoop").toString());
    int status = ToolRunner.run(configuration, tool, arguments);
    // TeraValidate gives 1 for an output that is not sorted; its report says where.
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

  /** Null where there is none of so many records. */
  private static Input readMarker(Path data, long records) throws IOException {
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
