// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import static java.util.Objects.requireNonNull;

import com.sun.management.OperatingSystemMXBean;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Sums;
import dev.sluice.testkit.hadoop.ShuffleNodes;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.security.token.JobTokenSecretManager;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.ReflectionUtils;
import org.jspecify.annotations.Nullable;

/**
 * The process of the reduce tasks: runs the shuffle plug-in of its configuration for one reduce
 * task after the other, as ReduceTask runs it. {@link CopyCommand} starts it and asks for copies.
 * All of it runs on the main thread, apart from the plug-in's threads.
 */
public final class CopyJob {
  /** Question for a copy whose records are added up. */
  static final String CHECK = "check";

  /** Question for a copy that is only measured. */
  static final String MEASURE = "measure";

  private static final String REDUCE_ATTEMPT = "attempt_1700000000000_0001_r_%06d_0";

  /**
   * Copies of all reduce tasks, one after the other.
   *
   * @param seconds time from each plug-in's creation until it is closed; the merge has been
   *     prepared then
   * @param cpuSeconds CPU time of this process meanwhile
   * @param firstBytesSeconds time from the start of this process to its first map output
   * @param failedFetches map outputs that Hadoop's fetcher failed to get at first
   * @param sums digest of the records; empty if they are not checked
   * @param fetchedBytes bytes of map outputs as Hadoop counts them
   * @param readBytes bytes that Sluice READ
   */
  record Copied(
      double seconds,
      double cpuSeconds,
      double firstBytesSeconds,
      long failedFetches,
      Sums sums,
      long fetchedBytes,
      long readBytes) {}

  private final JobConf conf;
  private final byte[] secret;
  private final TaskUmbilicalProtocol umbilical;
  private final long startMs;
  private final Counters.Counter fetched = new FetchedBytes();
  private final Counters.Counter failed = new Counters.Counter();
  private long readBytes;

  /** Time of the first map output of this process; null before. */
  private volatile @Nullable Long firstMs;

  private CopyJob(JobConf conf, long startMs, byte[] secret, List<String> hosts) {
    this.conf = conf;
    this.startMs = startMs;
    this.secret = secret;
    TaskCompletionEvent[] ended = new TaskCompletionEvent[conf.getNumMapTasks()];
    Arrays.setAll(
        ended,
        map ->
            new TaskCompletionEvent(
                map,
                TaskAttemptID.forName(ShuffleNodes.MAP_ATTEMPT.formatted(map)),
                map,
                true,
                TaskCompletionEvent.Status.SUCCEEDED,
                "http://" + hosts.get(map % hosts.size())));
    umbilical = new Umbilical(ended).protocol();
  }

  /**
   * @param arguments file of the job's configuration, time of the start of this process in ms, the
   *     job's secret in Base64, and the hosts; map outputs lie on them in turn
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    CopyJob job =
        new CopyJob(
            new JobConf(new Path(arguments[0])),
            Long.parseLong(arguments[1]),
            Base64.getDecoder().decode(arguments[2]),
            List.of(arguments).subList(3, arguments.length));
    AnsweringProcess.answer(out, question -> job.copy(question.equals(CHECK)));
  }

  private Copied copy(boolean isChecked) throws IOException, InterruptedException {
    long nanos = 0;
    long cpuNanos = 0;
    Sums sums = new Sums(0, 0);
    long fetchedBefore = fetched.getValue();
    long readBefore = readBytes;
    for (int reducer = 0; reducer < conf.getNumReduceTasks(); reducer++) {
      long startCpu = cpuNanos();
      long start = System.nanoTime();
      RawKeyValueIterator records = run(reducer);
      nanos += System.nanoTime() - start;
      cpuNanos += cpuNanos() - startCpu;
      if (isChecked) {
        sums = sums.plus(sums(reducer, records));
      }
      records.close();
    }
    return new Copied(
        nanos / 1e9,
        cpuNanos / 1e9,
        (requireNonNull(firstMs) - startMs) / 1e3,
        failed.getValue(),
        sums,
        fetched.getValue() - fetchedBefore,
        readBytes - readBefore);
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private RawKeyValueIterator run(int reducer) throws IOException, InterruptedException {
    ReduceTask task =
        new ReduceTask(
            "",
            TaskAttemptID.forName(REDUCE_ATTEMPT.formatted(reducer)),
            reducer,
            conf.getNumMapTasks(),
            1);
    task.setConf(conf);
    task.setShuffleSecret(JobTokenSecretManager.createSecretKey(secret));
    Reporter reporter = task.new TaskReporter(task.getProgress(), umbilical);
    try {
      return run(context(task, reporter));
    } finally {
      readBytes += reporter.getCounter(MapReduceSort.COUNTERS, "READ_BYTES").getValue();
    }
  }

  private <K, V> ShuffleConsumerPlugin.Context<K, V> context(ReduceTask task, Reporter reporter)
      throws IOException {
    Counters.Counter other = new Counters.Counter();
    return new ShuffleConsumerPlugin.Context<>(
        task.getTaskID(),
        conf,
        FileSystem.getLocal(conf),
        umbilical,
        new LocalDirAllocator(MRConfig.LOCAL_DIR),
        reporter,
        codec(),
        null,
        null,
        other,
        other,
        other,
        fetched,
        failed,
        other,
        new Status(),
        new Progress(),
        new Progress(),
        task,
        task.getMapOutputFile(),
        null);
  }

  private @Nullable CompressionCodec codec() {
    return conf.getCompressMapOutput()
        ? ReflectionUtils.newInstance(conf.getMapOutputCompressorClass(null), conf)
        : null;
  }

  private <K, V> RawKeyValueIterator run(ShuffleConsumerPlugin.Context<K, V> context)
      throws IOException, InterruptedException {
    @SuppressWarnings("unchecked") // as in ReduceTask
    ShuffleConsumerPlugin<K, V> plugin =
        ReflectionUtils.newInstance(
            conf.getClass(
                MRConfig.SHUFFLE_CONSUMER_PLUGIN, Shuffle.class, ShuffleConsumerPlugin.class),
            conf);
    plugin.init(context);
    try {
      return plugin.run();
    } finally {
      plugin.close();
    }
  }

  /** Returns a digest that tells the reduce tasks apart. */
  private static Sums sums(int reducer, RawKeyValueIterator records) throws IOException {
    long count = 0;
    long checksum = 0;
    while (records.next()) {
      count++;
      checksum += (reducer + 1) * (31L * hash(records.getKey()) + hash(records.getValue()));
    }
    return new Sums(count, checksum);
  }

  private static int hash(DataInputBuffer bytes) {
    int hash = 1;
    for (int i = bytes.getPosition(); i < bytes.getLength(); i++) {
      hash = 31 * hash + bytes.getData()[i];
    }
    return hash;
  }

  /** Counter that notes the time of the first map output. */
  private final class FetchedBytes extends Counters.Counter {
    @Override
    public void increment(long bytes) {
      if (firstMs == null) {
        firstMs = System.currentTimeMillis();
      }
      super.increment(bytes);
    }
  }

  /** Hadoop's own class for reduce tasks is not public. */
  private static final class Status extends TaskStatus {
    @Override
    public boolean getIsMap() {
      return false;
    }

    @Override
    public void addFetchFailedMap(TaskAttemptID map) {}
  }
}
