// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.Progressable;

/**
 * Holds up the last map task of a job until the test opens it: the reduce tasks have fetched all
 * other map outputs then, and wait.
 */
final class Gate {
  private static final String FILE = "gate.file";

  /** Tests wait for their jobs twice before they make the file. */
  private static final long TIMEOUT_MS = 2 * WordCounting.TIMEOUT_MS;

  private final Path file;

  /** Closes the gate for a job that counts words. */
  Gate(Job job, Path directory) throws Exception {
    file = directory.resolve("gate");
    Configuration conf = job.getConfiguration();
    job.setMapperClass(GatedMapper.class);
    conf.set(FILE, file.toString());
    addOwnClasses(conf);
    conf.set("mapreduce.job.reduce.slowstart.completedmaps", "0.01");
    conf.set("mapreduce.task.progress-report.interval", "200");
  }

  /** Has a job's processes find the classes of these tests, and run on a JDK that loads them. */
  static void addOwnClasses(Configuration conf) throws Exception {
    for (String process : List.of("mapreduce.map", "yarn.app.mapreduce.am")) {
      conf.set(process + ".env.JAVA_HOME", conf.get("mapreduce.reduce.env.JAVA_HOME"));
    }
    Path own = Path.of(Gate.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    conf.set(
        "mapreduce.application.classpath", conf.get("mapreduce.application.classpath") + "," + own);
  }

  void open() throws IOException {
    Files.createFile(file);
  }

  /**
   * Waits in a task until the test has made the file. The task reports that it lives.
   *
   * @throws IOException if the test does not make it in time
   */
  static void await(Path file, Progressable task) throws IOException, InterruptedException {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    while (Files.notExists(file)) {
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new IOException("The test has not made %s in %d ms".formatted(file, TIMEOUT_MS));
      }
      task.progress();
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /** Mapper of WordCount. */
  public static final class GatedMapper extends WordCount.TokenizerMapper {
    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      Path gate = Path.of(context.getConfiguration().get(FILE));
      boolean waits = context.getTaskAttemptID().getTaskID().getId() == WordCounting.MAPS - 1;
      if (waits) {
        await(gate, context);
      }
    }
  }
}
