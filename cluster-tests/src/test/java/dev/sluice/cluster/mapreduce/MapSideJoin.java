// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.hadoop.HadoopCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.mapreduce.lib.join.CompositeInputFormat;
import org.apache.hadoop.mapreduce.lib.join.TupleWritable;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * Hadoop's join on the map side. Two jobs sort pairs into equally many partitions, by READ; a third
 * one merges partitions of the same number, and has no reduce tasks. One test makes it; its thread
 * uses it.
 */
final class MapSideJoin {
  private static final int MAPS = 2;
  private static final int REDUCES = 2;
  private static final int PAIRS_OF_MAP = 2_000;
  private static final int KEYS = 3_000;

  private record Pair(String key, String value) {}

  private final HadoopCluster cluster;
  private final Path directory;
  private final Map<String, String> settings;

  /**
   * @param directory folder of inputs and outputs, which does not exist
   * @param settings those of {@link HadoopCluster#job}
   */
  MapSideJoin(HadoopCluster cluster, Path directory, Map<String, String> settings) {
    this.cluster = cluster;
    this.directory = directory;
    this.settings = settings;
  }

  /** Runs the jobs; checks that the first two READ all map outputs, and the joined pairs. */
  void check() throws Exception {
    List<Pair> left = pairs("left", new Random(1));
    List<Pair> right = pairs("right", new Random(2));
    for (String name : List.of("left", "right")) {
      new ShuffleCounts(completed(sort(name))).checkThatAllWasRead(MAPS * REDUCES);
    }
    completed(join());
    assertThat(lines("joined")).containsExactlyInAnyOrderElementsOf(joined(left, right));
  }

  /** Writes the input of a job, of which some keys are in both inputs and some are there twice. */
  private List<Pair> pairs(String name, Random random) throws Exception {
    Path input = Files.createDirectories(directory.resolve(name + "-input"));
    List<Pair> all = new ArrayList<>();
    for (int map = 0; map < MAPS; map++) {
      List<Pair> pairs = new ArrayList<>();
      for (int i = 0; i < PAIRS_OF_MAP; i++) {
        pairs.add(new Pair("key-" + random.nextInt(KEYS), name + "-" + map + "-" + i));
      }
      Files.write(
          input.resolve("pairs-" + map),
          pairs.stream().map(pair -> pair.key() + "\t" + pair.value()).toList());
      all.addAll(pairs);
    }
    return all;
  }

  private Job job(String name) throws Exception {
    Configuration conf = new Configuration();
    settings.forEach(conf::set);
    Job job = Job.getInstance(conf, name);
    job.setMapperClass(Mapper.class);
    job.setOutputKeyClass(Text.class);
    FileOutputFormat.setOutputPath(job, hadoop(directory.resolve(name)));
    return job;
  }

  private Job sort(String name) throws Exception {
    Job job = job(name);
    FileInputFormat.addInputPath(job, hadoop(directory.resolve(name + "-input")));
    job.setInputFormatClass(KeyValueTextInputFormat.class);
    job.setReducerClass(Reducer.class);
    job.setNumReduceTasks(REDUCES);
    job.setOutputValueClass(Text.class);
    return job;
  }

  private Job join() throws Exception {
    Job job = job("joined");
    job.setInputFormatClass(CompositeInputFormat.class);
    // A pattern, unlike a folder, has its files in their order.
    job.getConfiguration()
        .set(
            CompositeInputFormat.JOIN_EXPR,
            CompositeInputFormat.compose(
                "inner",
                KeyValueTextInputFormat.class,
                hadoop(directory.resolve("left/part-r-*")),
                hadoop(directory.resolve("right/part-r-*"))));
    job.setNumReduceTasks(0);
    job.setOutputValueClass(TupleWritable.class);
    return job;
  }

  private static org.apache.hadoop.fs.Path hadoop(Path path) {
    return new org.apache.hadoop.fs.Path(path.toString());
  }

  private Counters completed(Job job) throws Exception {
    assertThat(job.waitForCompletion(false))
        .as("%s%n%s", job.getStatus().getFailureInfo(), cluster.logs())
        .isTrue();
    return job.getCounters();
  }

  /** Returns the lines of the joined output: each pair of the left with each of the right. */
  private static List<String> joined(List<Pair> left, List<Pair> right) {
    return left.stream()
        .flatMap(
            one ->
                right.stream()
                    .filter(other -> other.key().equals(one.key()))
                    .map(other -> "%s\t[%s,%s]".formatted(one.key(), one.value(), other.value())))
        .toList();
  }

  private List<String> lines(String name) throws Exception {
    List<String> lines = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory.resolve(name))) {
      for (Path part :
          files.filter(file -> file.getFileName().toString().startsWith("part-m-")).toList()) {
        lines.addAll(Files.readAllLines(part));
      }
    }
    return lines;
  }
}
