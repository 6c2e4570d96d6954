// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.hadoop.HadoopCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.JobInfo;
import org.apache.hadoop.util.ToolRunner;

/**
 * Hadoop's TeraSort on a cluster of NodeManagers on this machine. The command starts each sort on
 * its thread; each has a cluster of its own, so that no daemon serves two of them. Immutable.
 *
 * @param nodes number of NodeManagers
 * @param cores tasks that each runs at a time
 * @param memoryMb heap of a task, in MiB
 * @param provider the daemons' and the readers' provider
 * @param reducers number of reduce tasks
 * @param further the user's settings of the job, which override others
 */
public record MapReduceSort(
    int nodes,
    int cores,
    long memoryMb,
    String provider,
    int reducers,
    Map<String, String> further) {
  /** Memory of an ApplicationMaster, for which each node has room, in MiB. */
  private static final long MASTER_MB = 512;

  /** Memory of a task beside its heap, in MiB: the JVM's own, and the buffers of READs. */
  private static final long OFF_HEAP_MB = 256;

  /** The ResourceManager rounds the memory of a container up to a multiple of it, in MiB. */
  private static final long ALLOCATION_MB = 128;

  /** Bytes of input for a map task; files of this machine would have 32 MiB. */
  private static final long SPLIT_BYTES = 128L << 20;

  /** Group of the plug-in's counters. */
  static final String COUNTERS = "Sluice shuffle";

  /** Names in {@link #COUNTERS} that are sums, not reasons. */
  private static final List<String> SUMS = List.of("BYTES", "MAP_OUTPUTS");

  private static final String HTTP = "HTTP_";

  /**
   * Result of one sort.
   *
   * @param seconds time from the job's submission to its end
   * @param cpuSeconds CPU time of the cluster's processes meanwhile
   * @param totals Sluice's counters, where HTTP is the fallback, and the bytes that the reduce
   *     tasks fetched, as Hadoop counts them
   */
  public record Result(double seconds, double cpuSeconds, SluiceTotals totals) {}

  /**
   * Runs a sort.
   *
   * @param directory folder of the cluster, which does not exist
   * @throws IOException if it failed; contains the last lines of the tasks' logs
   */
  public Result run(Shuffle shuffle, Path directory, Path input, Path output) throws Exception {
    Path root = Path.of(System.getenv("SLUICE_HOME"));
    int nodeMb = Math.toIntExact(cores * taskMb() + MASTER_MB);
    try (HadoopCluster cluster = HadoopCluster.start(directory, root, nodes, nodeMb, provider)) {
      double cpu = cluster.cpuSeconds();
      int status =
          ToolRunner.run(
              settings(cluster, shuffle, output),
              new TeraSort(),
              new String[] {input.toString(), output.toString()});
      if (status != 0) {
        throw new IOException(
            "%s: TeraSort ended with status %d%n%s"
                .formatted(shuffle.label(), status, cluster.logs()));
      }
      cluster.awaitIdle();
      return result(cluster, shuffle, cluster.cpuSeconds() - cpu);
    }
  }

  private long taskMb() {
    return Math.ceilDiv(memoryMb + OFF_HEAP_MB, ALLOCATION_MB) * ALLOCATION_MB;
  }

  private Configuration settings(HadoopCluster cluster, Shuffle shuffle, Path output)
      throws IOException {
    Configuration settings = new Configuration();
    cluster.job(shuffle).forEach(settings::set);
    for (String kind : List.of("map", "reduce")) {
      settings.setLong("mapreduce." + kind + ".memory.mb", taskMb());
      settings.set("mapreduce." + kind + ".java.opts", "-Xmx" + memoryMb + "m");
    }
    settings.setInt("mapreduce.job.reduces", reducers);
    settings.setLong("mapreduce.input.fileinputformat.split.minsize", SPLIT_BYTES);
    // TeraSort looks there for its split points if the default file system is the local one.
    settings.set("mapreduce.job.working.dir", output.toString());
    further.forEach(settings::set);
    return settings;
  }

  /** Reads the result from the job's history: the tool of Hadoop tells only its success. */
  private Result result(HadoopCluster cluster, Shuffle shuffle, double cpuSeconds)
      throws IOException {
    List<Path> histories =
        Directories.files(
            cluster.histories(), name -> name.contains("-TeraSort-") && name.endsWith(".jhist"));
    JobInfo job =
        new JobHistoryParser(
                FileSystem.getLocal(new Configuration()),
                new org.apache.hadoop.fs.Path(histories.getLast().toUri()))
            .parse();
    Counters counters = job.getTotalCounters();
    return new Result(
        (job.getFinishTime() - job.getSubmitTime()) / 1e3,
        cpuSeconds,
        shuffle == Shuffle.SLUICE ? totals(counters) : SluiceTotals.NONE);
  }

  private SluiceTotals totals(Counters counters) {
    Map<String, Long> totals = new HashMap<>();
    for (Counter counter : counters.getGroup(COUNTERS)) {
      String name = counter.getName();
      String reason = name.substring(name.indexOf('_') + 1);
      if (name.equals("READ_BYTES")) {
        totals.put("read.bytes", counter.getValue());
      } else if (name.equals("HTTP_BYTES")) {
        totals.put("fallback.bytes.HTTP", counter.getValue());
      } else if (name.startsWith(HTTP) && !SUMS.contains(reason)) {
        totals.put("fallback.blocks." + reason, counter.getValue());
      }
    }
    return new SluiceTotals(
        provider, counters.findCounter(TaskCounter.REDUCE_SHUFFLE_BYTES).getValue(), totals);
  }
}
