// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import com.ning.compress.lzf.LZFOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import net.jpountz.lz4.LZ4BlockOutputStream;
import org.xerial.snappy.SnappyOutputStream;

/** Lines of event logs, with the fields that Spark 3.0 writes, and their compression. */
final class Events {
  static final String START =
      """
      {"Event":"SparkListenerLogStart","Spark Version":"3.0.1"}
      {"Event":"SparkListenerApplicationStart","App Name":"nightly","App ID":"app-1","Timestamp":1000,"User":"u"}
      """;
  static final String END = "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":21000}\n";

  private Events() {}

  static String manager(String className) {
    return "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{\"Java Home\":\"/j\"},"
        + "\"Spark Properties\":{\"spark.app.id\":\"app-1\",\"spark.shuffle.manager\":\"%s\"}}\n"
            .formatted(className);
  }

  static String submitted(int stage) {
    return "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":%s,\"Properties\":{}}\n"
        .formatted(info(stage, ""));
  }

  static String completed(int stage) {
    return "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":%s}\n"
        .formatted(info(stage, ",\"Completion Time\":" + (6000 + 1000 * stage)));
  }

  private static String info(int stage, String more) {
    return "{\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Stage Name\":\"stage %d\",\"Number of Tasks\":2,"
            .formatted(stage, stage)
        + "\"RDD Info\":[{\"RDD ID\":3,\"Name\":\"{\"}],\"Submission Time\":%d%s}"
            .formatted(2000 + 1000 * stage, more);
  }

  /**
   * @param more further fields of the metrics; may be empty
   */
  static String task(int stage, long runMs, String more) {
    return "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"Stage Attempt ID\":0,"
            .formatted(stage)
        + "\"Task End Reason\":{\"Reason\":\"Success\"},"
        + "\"Task Info\":{\"Task ID\":1,\"Finish Time\":5000,\"Accumulables\":[{\"ID\":1}]},"
        + "\"Task Metrics\":{\"Executor Run Time\":%d%s,\"Input Metrics\":{\"Bytes Read\":1}}}\n"
            .formatted(runMs, more);
  }

  static String reads(long records, long local, long remote, long bytesEach, long waitMs) {
    return ",\"Shuffle Read Metrics\":{\"Remote Blocks Fetched\":%d,\"Local Blocks Fetched\":%d,"
            .formatted(remote, local)
        + "\"Fetch Wait Time\":%d,\"Remote Bytes Read\":%d,\"Remote Bytes Read To Disk\":0,"
            .formatted(waitMs, remote * bytesEach)
        + "\"Local Bytes Read\":%d,\"Total Records Read\":%d}"
            .formatted(local * bytesEach, records);
  }

  static String readingTask(int stage, long runMs, long local, long remote, long bytesEach) {
    return task(stage, runMs, reads(10 * (local + remote), local, remote, bytesEach, 100));
  }

  /** An application with a stage that writes, one of many small blocks, and one of few blocks. */
  static String application() {
    return START
        + manager("sort")
        + "{\"Event\":\"dev.sluice.Unknown\",\"More\":[{}]}\n"
        + submitted(0)
        + task(0, 3000, reads(0, 0, 0, 0, 0))
        + completed(0)
        + submitted(1)
        + readingTask(1, 1000, 20_000, 20_000, 1024)
        + readingTask(1, 1000, 20_000, 20_000, 1024)
        + completed(1)
        + submitted(2)
        + readingTask(2, 4000, 10, 10, 1024)
        + "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":2,\"Stage Attempt ID\":0}\n"
        + completed(2)
        + END;
  }

  /** Compresses as Spark does. */
  static byte[] compressed(String codec, String log) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = compressing(codec, bytes)) {
      for (String line : List.of(log.split("(?<=\n)"))) {
        out.write(line.getBytes(UTF_8));
        out.flush();
      }
    }
    return bytes.toByteArray();
  }

  private static OutputStream compressing(String codec, OutputStream out) throws IOException {
    return switch (codec) {
      case "zstd" -> new ZstdOutputStreamNoFinalizer(out, 1).setCloseFrameOnFlush(false);
      case "lz4" -> new LZ4BlockOutputStream(out, 32 << 10);
      case "snappy" -> new SnappyOutputStream(out, 32 << 10);
      case "lzf" -> new LZFOutputStream(out);
      default -> out;
    };
  }
}
