// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.MergeManager;
import org.apache.hadoop.mapreduce.task.reduce.MergeManagerImpl;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleClientMetrics;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hadoop's shuffle with READs: the value of {@code
 * mapreduce.job.reduce.shuffle.consumer.plugin.class}. Scheduler, merger and the handling of lost
 * map outputs are Hadoop's. Where this reduce task lacks a part that READs need, it is Hadoop's own
 * {@link Shuffle}, with one WARN; with local map files, as LocalJobRunner and uber jobs have them,
 * it is so without one.
 *
 * <p>The reduce task makes it, and calls it on its own thread: {@link #init}, {@link #run}, {@link
 * #close}. Job counters of the group {@link ShuffleCounters#GROUP} tell the bytes and the reasons.
 */
public final class RdmaShuffle<K, V> implements ShuffleConsumerPlugin<K, V>, ExceptionReporter {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffle.class);

  /** Interval at which the task tells that it lives. */
  private static final int PROGRESS_MS = 2_000;

  private static final int DEFAULT_FETCHERS = 5;

  /** Set by {@link #init}, which precedes every other call; the fields below as well. */
  @SuppressWarnings("NullAway.Init")
  private Context<K, V> context;

  @SuppressWarnings("NullAway.Init")
  private ShuffleCounters counters;

  /** Hadoop's own shuffle, if this task cannot READ; else the other fields are set. */
  private @Nullable Shuffle<K, V> stock;

  private @Nullable NodeReader reader;

  /** Thread that closes the reader; null before. */
  private @Nullable Thread closing;

  private @Nullable ShuffleSchedulerImpl<K, V> scheduler;
  private @Nullable MergeManager<K, V> merger;

  /** First failure of a thread, and the name of that thread; guarded by this. */
  private @Nullable Throwable failure;

  private String failedThread = "";

  @Override
  public void init(Context<K, V> reduceContext) {
    context = reduceContext;
    counters = new ShuffleCounters(reduceContext);
    if (reduceContext.getLocalMapFiles() == null) {
      openReader();
    }
    if (reader == null) {
      stock = new Shuffle<>();
      stock.init(reduceContext);
      return;
    }
    JobConf conf = context.getJobConf();
    scheduler =
        new ShuffleSchedulerImpl<>(
            conf,
            context.getStatus(),
            context.getReduceId(),
            this,
            context.getCopyPhase(),
            context.getShuffledMapsCounter(),
            context.getReduceShuffleBytes(),
            context.getFailedShuffleCounter());
    merger =
        new MergeManagerImpl<>(
            context.getReduceId(),
            conf,
            context.getLocalFS(),
            context.getLocalDirAllocator(),
            context.getReporter(),
            context.getCodec(),
            context.getCombinerClass(),
            context.getCombineCollector(),
            context.getSpilledRecordsCounter(),
            context.getReduceCombineInputCounter(),
            context.getMergedMapOutputsCounter(),
            this,
            context.getMergePhase(),
            context.getMapOutputFile());
  }

  private void openReader() {
    try {
      reader =
          InstalledReader.open(
              context.getJobConf(),
              context.getReduceId(),
              context.getReduceTask().getShuffleSecret());
    } catch (NodeReadException e) {
      counters.allByHttp(e.reason());
      LOG.warn(
          "{} fetches map outputs by Hadoop's HTTP and does not READ them: {}",
          context.getReduceId(),
          e.getMessage());
      LOG.debug("The reader cannot be opened", e);
    }
  }

  /**
   * Copies and merges the map outputs.
   *
   * @throws IOException if map outputs cannot be had, as Hadoop's own shuffle throws it
   */
  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    if (stock != null) {
      return stock.run();
    }
    try {
      copy(requireNonNull(scheduler), requireNonNull(merger));
    } finally {
      closeReader(); // The merge goes on meanwhile, and needs the memory.
    }
    return merged(requireNonNull(merger));
  }

  private void copy(ShuffleSchedulerImpl<K, V> all, MergeManager<K, V> into)
      throws IOException, InterruptedException {
    JobConf conf = context.getJobConf();
    MapEvents events =
        new MapEvents(
            (TaskAttemptID) context.getReduceId(),
            context.getUmbilical(),
            all,
            this,
            conf.getNumReduceTasks());
    events.start();
    List<RdmaFetcher<K, V>> fetchers = fetchers(all, into);
    fetchers.forEach(Thread::start);
    while (!all.waitUntilDone(PROGRESS_MS)) {
      context.getReporter().progress();
      throwFailure();
    }
    events.shutDown();
    for (RdmaFetcher<K, V> fetcher : fetchers) {
      fetcher.shutDown();
    }
    all.close();
  }

  private List<RdmaFetcher<K, V>> fetchers(ShuffleSchedulerImpl<K, V> all, MergeManager<K, V> into)
      throws IOException {
    JobConf conf = context.getJobConf();
    ShuffleClientMetrics metrics = ShuffleClientMetrics.create(context.getReduceId(), conf);
    HttpOutputs byHttp = new HttpOutputs();
    List<RdmaFetcher<K, V>> fetchers = new ArrayList<>();
    for (int i = conf.getInt(MRJobConfig.SHUFFLE_PARALLEL_COPIES, DEFAULT_FETCHERS); i > 0; i--) {
      fetchers.add(
          new RdmaFetcher<>(
              context, all, into, metrics, this, requireNonNull(reader), byHttp, counters));
    }
    return fetchers;
  }

  private RawKeyValueIterator merged(MergeManager<K, V> copied) throws IOException {
    Task task = context.getReduceTask();
    context.getCopyPhase().complete();
    context.getStatus().setPhase(TaskStatus.Phase.SORT);
    try {
      task.statusUpdate(context.getUmbilical());
      RawKeyValueIterator merged = copied.close();
      throwFailure();
      return merged;
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IOException("Merging the map outputs failed", e);
    }
  }

  private synchronized void throwFailure() throws IOException {
    if (failure != null) {
      throw new IOException("The shuffle failed in " + failedThread, failure);
    }
  }

  /** Fails the shuffle. Fetchers, merger and scheduler call it, on any thread. */
  @Override
  public void reportException(Throwable cause) {
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = cause;
      failedThread = Thread.currentThread().getName();
    }
    ShuffleSchedulerImpl<K, V> waiting = requireNonNull(scheduler);
    synchronized (waiting) {
      waiting.notifyAll(); // run() waits in it
    }
  }

  /**
   * Begins to close the reader, once. It waits for threads, up to several seconds for one that does
   * not end, in which the task would not tell that it lives.
   */
  private void closeReader() {
    if (reader != null && closing == null) {
      Thread thread = new Thread(reader::close, "sluice-reader");
      thread.setDaemon(true);
      thread.start();
      closing = thread;
    }
  }

  /**
   * Reports the counters, and waits until the reader is closed. The reduce task calls it once,
   * after the reducer has ended.
   */
  @Override
  public void close() {
    counters.report();
    closeReader();
    Thread last = closing;
    try {
      while (last != null && last.isAlive()) {
        context.getReporter().progress();
        last.join(PROGRESS_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The task is being ended.
    }
  }
}
