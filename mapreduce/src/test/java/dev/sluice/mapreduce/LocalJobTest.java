// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A job in Hadoop's local mode, whose tasks share this JVM. */
@Timeout(180)
final class LocalJobTest {
  private static final int MAPS = 2;
  private static final int REDUCES = 3;

  @TempDir private Path directory;

  @Test
  void aLocalJobReadsNothingAndFetchesNothing() throws Exception {
    Path input = Files.createDirectory(directory.resolve("input"));
    for (int map = 0; map < MAPS; map++) {
      Files.write(input.resolve("text-" + map), List.of("to be or", "not to be", "in " + map));
    }
    Job job = wordCount(input);
    assertThat(job.waitForCompletion(false)).isTrue();
    List<String> counted = new ArrayList<>();
    for (int reduce = 0; reduce < REDUCES; reduce++) {
      counted.addAll(Files.readAllLines(directory.resolve("output/part-r-0000" + reduce)));
    }
    assertThat(counted)
        .containsExactlyInAnyOrder("0\t1", "1\t1", "be\t4", "in\t2", "not\t2", "or\t2", "to\t4");
    assertThat(job.getCounters().findCounter(TaskCounter.SHUFFLED_MAPS).getValue())
        .isEqualTo(MAPS * REDUCES);
    assertThat(job.getCounters().getGroup(ShuffleCounters.GROUP)).isEmpty();
  }

  private Job wordCount(Path input) throws Exception {
    Configuration conf = new Configuration();
    conf.set(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME);
    conf.setClass(MRConfig.SHUFFLE_CONSUMER_PLUGIN, RdmaShuffle.class, ShuffleConsumerPlugin.class);
    conf.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    conf.setInt("mapreduce.local.reduce.tasks.maximum", REDUCES);
    Job job = Job.getInstance(conf);
    job.setMapperClass(TokenCounterMapper.class);
    job.setReducerClass(IntSumReducer.class);
    job.setNumReduceTasks(REDUCES);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    FileOutputFormat.setOutputPath(
        job, new org.apache.hadoop.fs.Path(directory.resolve("output").toUri()));
    return job;
  }
}
