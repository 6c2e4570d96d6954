// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.Poll;
import dev.sluice.testkit.hadoop.HadoopCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.commons.lang3.function.FailableBooleanSupplier;
import org.apache.commons.lang3.function.FailableSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * Hadoop's WordCount over generated text, whose result is known. Each test makes one; the test's
 * thread uses it.
 */
final class WordCounting {
  static final int MAPS = 3;
  static final int REDUCES = 2;

  /** A partition has 4 MB then. A reduce task READs 2 MiB of it ahead of what it has copied. */
  static final int WORDS_OF_SEVERAL_READS = 500_000;

  /** Limit of each {@link #await}. */
  static final long TIMEOUT_MS = 120_000;

  private static final int WORDS_OF_MAP = 20_000;
  private static final int DIFFERENT_WORDS = 5_000;

  private final Map<String, Integer> expected = new HashMap<>();
  private final FailableSupplier<String, IOException> logs;
  private final Path output;
  private final Job job;
  private Counters counters = new Counters();

  /**
   * Writes the text and prepares the job.
   *
   * @param directory folder of input and output, which does not exist
   * @param settings those of {@link HadoopCluster#job}
   */
  WordCounting(HadoopCluster cluster, Path directory, Map<String, String> settings)
      throws Exception {
    this(cluster, directory, settings, WORDS_OF_MAP);
  }

  /**
   * @param wordsOfMap words of each map task
   */
  WordCounting(HadoopCluster cluster, Path directory, Map<String, String> settings, int wordsOfMap)
      throws Exception {
    this(cluster::logs, directory, settings, wordsOfMap);
  }

  /** The same where the cluster is another process's. */
  WordCounting(Path directory, Map<String, String> settings) throws Exception {
    this(() -> "", directory, settings, WORDS_OF_MAP);
  }

  private WordCounting(
      FailableSupplier<String, IOException> logs,
      Path directory,
      Map<String, String> settings,
      int wordsOfMap)
      throws Exception {
    this.logs = logs;
    this.output = directory.resolve("output");
    Path input = Files.createDirectories(directory.resolve("input"));
    for (int map = 0; map < MAPS; map++) {
      Files.write(input.resolve("text-" + map), lines(new Random(map), wordsOfMap));
    }
    Configuration conf = new Configuration();
    settings.forEach(conf::set);
    job = Job.getInstance(conf, directory.getFileName().toString());
    job.setJarByClass(WordCount.class);
    job.setMapperClass(WordCount.TokenizerMapper.class);
    job.setReducerClass(WordCount.IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    job.setNumReduceTasks(REDUCES);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(output.toUri()));
  }

  private List<String> lines(Random random, int words) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < words; i++) {
      String word = "word-" + random.nextInt(DIFFERENT_WORDS);
      expected.merge(word, 1, Integer::sum);
      lines.add(word);
    }
    return lines;
  }

  /** Returns the job, to change it before it is submitted. */
  Job job() {
    return job;
  }

  /** Changes a setting of the job. */
  void set(String key, String value) {
    job.getConfiguration().set(key, value);
  }

  /** Has the last map task wait; call it before the job is submitted. */
  Gate gate() throws Exception {
    return new Gate(job, output.getParent());
  }

  /** Has the first reduce task wait in its copies; call it before the job is submitted. */
  SlowReduce slowReduce() throws Exception {
    return new SlowReduce(job, output.getParent());
  }

  /** Has the first reduce task wait before them; call it before the job is submitted. */
  LateReduce lateReduce() throws Exception {
    return new LateReduce(job, output.getParent());
  }

  /** Returns the number of map outputs that reduce tasks have copied so far. */
  long shuffledMaps() throws Exception {
    return job.getCounters().findCounter(TaskCounter.SHUFFLED_MAPS).getValue();
  }

  /** Returns the number of map outputs that reduce tasks READ which have copied all of theirs. */
  long readMaps() throws Exception {
    return new ShuffleCounts(job.getCounters()).get("READ_MAP_OUTPUTS");
  }

  /** Returns the attempts of map tasks whose output reduce tasks can have now. */
  List<TaskAttemptID> finishedMaps() throws Exception {
    return finished().map(TaskCompletionEvent::getTaskAttemptId).toList();
  }

  /**
   * Returns those attempts that ran on a node.
   *
   * @param host address of the node
   */
  List<TaskAttemptID> finishedMaps(String host) throws Exception {
    return finished()
        .filter(event -> event.getTaskTrackerHttp().contains(host + ":"))
        .map(TaskCompletionEvent::getTaskAttemptId)
        .toList();
  }

  private Stream<TaskCompletionEvent> finished() throws Exception {
    return Stream.of(job.getTaskCompletionEvents(0, 1_000))
        .filter(event -> event.isMapTask() && event.getStatus() == Status.SUCCEEDED);
  }

  /** Returns true if later attempts of the tasks of all these attempts have succeeded. */
  boolean haveRunAgain(Collection<TaskAttemptID> attempts) throws Exception {
    List<TaskAttemptID> finished = finishedMaps();
    return attempts.stream()
        .allMatch(
            earlier ->
                finished.stream()
                    .anyMatch(
                        later ->
                            later.getTaskID().equals(earlier.getTaskID())
                                && later.getId() > earlier.getId()));
  }

  /** Waits for something while the job runs. */
  void await(String what, FailableBooleanSupplier<Exception> condition) throws Exception {
    Poll.until(TIMEOUT_MS, () -> condition.getAsBoolean() || job.isComplete());
    assertThat(condition.getAsBoolean()).as("%s%n%s", what, logs.get()).isTrue();
  }

  /** Runs the job, or waits for the end of one that was submitted, and checks its output. */
  void check() throws Exception {
    assertThat(job.waitForCompletion(false))
        .as("%s%n%s", job.getStatus().getFailureInfo(), logs.get())
        .isTrue();
    counters = job.getCounters(); // the ApplicationMaster ends soon
    Map<String, Integer> counted = new HashMap<>();
    try (Stream<Path> parts = Files.list(output)) {
      for (Path part :
          parts.filter(file -> file.getFileName().toString().startsWith("part-r-")).toList()) {
        for (String line : Files.readAllLines(part)) {
          String[] fields = line.split("\t");
          counted.put(fields[0], Integer.parseInt(fields[1]));
        }
      }
    }
    assertThat(counted).isEqualTo(expected);
  }

  /** Checks that no map output of the job, which has ended, came by HTTP. */
  void checkThatAllWasRead() {
    new ShuffleCounts(counters).checkThatAllWasRead(MAPS * REDUCES);
  }

  /** Returns a counter of Hadoop, after {@link #check}. */
  long counter(TaskCounter counter) {
    return counters.findCounter(counter).getValue();
  }

  /** Returns the number of map outputs whose READ failed, after {@link #check}. */
  long failedReads() {
    return new ShuffleCounts(counters).failedReads();
  }

  /** Returns a counter of Sluice, after {@link #check}. */
  long counter(String name) {
    return new ShuffleCounts(counters).get(name);
  }
}
