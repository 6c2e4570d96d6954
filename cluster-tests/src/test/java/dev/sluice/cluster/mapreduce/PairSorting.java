// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.hadoop.HadoopCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.SecondarySort;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * Hadoop's SecondarySort, with encrypted map outputs: groups by the first number of a pair and
 * sorts each group by the second one. One test makes it; its thread uses it.
 */
final class PairSorting {
  private static final int MAPS = 2;

  /** Pairs of a map task. */
  private static final int PAIRS = 5_000;

  private static final int NUMBERS = 200;

  private final List<List<Integer>> pairs = new ArrayList<>();
  private final HadoopCluster cluster;
  private final Path output;
  private final Job job;

  PairSorting(HadoopCluster cluster, Path directory, Map<String, String> settings)
      throws Exception {
    this.cluster = cluster;
    this.output = directory.resolve("output");
    Path input = Files.createDirectories(directory.resolve("input"));
    for (int map = 0; map < MAPS; map++) {
      Files.write(input.resolve("pairs-" + map), lines(new Random(map)));
    }
    Configuration conf = new Configuration();
    settings.forEach(conf::set);
    conf.setBoolean("mapreduce.job.encrypted-intermediate-data", true);
    job = Job.getInstance(conf, "pairs");
    job.setNumReduceTasks(1); // so that one file has all pairs in their order
    job.setJarByClass(SecondarySort.class);
    job.setMapperClass(SecondarySort.MapClass.class);
    job.setReducerClass(SecondarySort.Reduce.class);
    job.setPartitionerClass(SecondarySort.FirstPartitioner.class);
    job.setGroupingComparatorClass(SecondarySort.FirstGroupingComparator.class);
    job.setMapOutputKeyClass(SecondarySort.IntPair.class);
    job.setMapOutputValueClass(IntWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(output.toUri()));
  }

  private List<String> lines(Random random) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < PAIRS; i++) {
      pairs.add(List.of(random.nextInt(NUMBERS), random.nextInt(NUMBERS)));
      lines.add(pairs.getLast().getFirst() + " " + pairs.getLast().getLast());
    }
    return lines;
  }

  /** Runs the job; checks its output, and that all map outputs were READ. */
  void check() throws Exception {
    assertThat(job.waitForCompletion(false))
        .as("%s%n%s", job.getStatus().getFailureInfo(), cluster.logs())
        .isTrue();
    new ShuffleCounts(job.getCounters()).checkThatAllWasRead(MAPS);
    List<List<Integer>> sorted = new ArrayList<>();
    for (String line : Files.readAllLines(output.resolve("part-r-00000"))) {
      String[] fields = line.split("\t");
      if (fields.length == 2) { // no line between two groups
        sorted.add(List.of(Integer.parseInt(fields[0]), Integer.parseInt(fields[1])));
      }
    }
    pairs.sort(Comparator.<List<Integer>>comparingInt(List::getFirst).thenComparing(List::getLast));
    assertThat(sorted).isEqualTo(pairs);
  }
}
