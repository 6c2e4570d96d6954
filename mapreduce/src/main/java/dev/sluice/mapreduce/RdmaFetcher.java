// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.Fetcher;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.MapOutput;
import org.apache.hadoop.mapreduce.task.reduce.MergeManager;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleClientMetrics;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;

/**
 * Copies the map outputs of one host after the other: Hadoop's fetcher, which READs map outputs and
 * leaves those that it cannot READ to Hadoop's HTTP. The known map outputs of a host are located in
 * requests of growing size: a node registers a map output when it is first asked for it, and the
 * first READ need not wait for all of them. They are READ in batches, each after the merger has
 * reserved room for all of its map outputs. If the node does not register a map output in time, it
 * is asked again during a later visit. A map output that could not be READ goes by HTTP from then
 * on, which reports lost ones to the scheduler as ever.
 *
 * <p>{@link RdmaShuffle} makes, starts and stops it. Hadoop's class runs the thread, which waits
 * for nodes and for the merger.
 */
final class RdmaFetcher<K, V> extends Fetcher<K, V> {
  /** Map outputs in the first request to locate some during a visit. */
  private static final int FIRST_REQUEST = 32;

  /** Each further request is larger by this factor, up to the limit. */
  private static final int GROWTH = 16;

  private static final int MAX_REQUEST = 2_048;

  /** Limits of a batch. */
  private static final int MAX_BATCH_BYTES = 8 << 20;

  private static final int MAX_BATCH = 1_024;

  /** The merger opens a decompressor for a compressed map output, and a file for a large one. */
  private static final int MAX_COSTLY_BATCH = 16;

  /** Description of a map output that the merger writes to a local disk. */
  private static final String ON_DISK = "DISK";

  /** Pause of a fetcher for whose map outputs the merger has no room. */
  private static final long PAUSE_MS = 50;

  private final JobConf conf;
  private final boolean isCompressed;

  /** The merger of map outputs that are READ. Hadoop's class has one that counts those by HTTP. */
  private final MergeManager<K, V> hadoopMerger;

  private final NodeReader reader;
  private final HttpOutputs byHttp;
  private final ShuffleCounters counters;

  /** Hadoop's counter of map outputs that all fetchers of this task failed to get. */
  private final Counters.Counter failedFetches;

  /** Bytes that encryption adds to each partition. */
  private final int padding;

  /** A map output that can be READ. */
  private static final class Located {
    final TaskAttemptID attempt;
    final RemotePartition partition;

    Located(TaskAttemptID attempt, RemotePartition partition) {
      this.attempt = attempt;
      this.partition = partition;
    }
  }

  /** A located map output for which the merger has room. */
  private static final class Reserved<K, V> {
    final Located located;
    final MapOutput<K, V> target;

    /** True once the target has begun to shuffle, which it does only once. */
    boolean isShuffled;

    Reserved(Located located, MapOutput<K, V> target) {
      this.located = located;
      this.target = target;
    }
  }

  RdmaFetcher(
      ShuffleConsumerPlugin.Context<K, V> context,
      ShuffleSchedulerImpl<K, V> scheduler,
      MergeManager<K, V> merger,
      ShuffleClientMetrics metrics,
      ExceptionReporter failures,
      NodeReader reader,
      HttpOutputs byHttp,
      ShuffleCounters counters)
      throws IOException {
    super(
        context.getJobConf(),
        context.getReduceId(),
        scheduler,
        new CountingMergeManager<>(merger, byHttp, counters),
        context.getReporter(),
        metrics,
        failures,
        context.getReduceTask().getShuffleSecret());
    this.conf = context.getJobConf();
    this.isCompressed = context.getCodec() != null;
    this.hadoopMerger = merger;
    this.reader = reader;
    this.byHttp = byHttp;
    this.counters = counters;
    this.failedFetches = context.getFailedShuffleCounter();
    this.padding = CryptoUtils.cryptoPadding(conf);
  }

  /**
   * Copies the known map outputs of the host. Map outputs that are not copied in the end are given
   * back to the scheduler, as Hadoop's own fetcher does.
   */
  @Override
  protected void copyFromHost(MapHost host) throws IOException {
    HostOutputs outputs = new HostOutputs(host, scheduler, byHttp);
    try {
      outputs.take();
      if (read(outputs)) {
        fetch(outputs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The thread is being stopped.
    } finally {
      outputs.giveBack();
    }
  }

  /**
   * READs map outputs. Stops after a failure of the node: the rest is located afresh next time.
   *
   * @return false if the merger has no room now, or this task ends
   */
  private boolean read(HostOutputs outputs) throws InterruptedException {
    int most = FIRST_REQUEST;
    boolean isThere = true;
    while (isThere && !outputs.areLocated()) {
      Deque<Located> located = new ArrayDeque<>();
      isThere = locate(outputs, outputs.next(most), located);
      while (isThere && !located.isEmpty()) {
        List<Reserved<K, V>> batch = new ArrayList<>();
        boolean hasRoom = false;
        try {
          hasRoom = reserve(located, batch);
        } catch (IOException e) { // The local disks have no room: this attempt fails, as Hadoop's.
          scheduler.reportLocalError(e);
        }
        if (!hasRoom && batch.isEmpty()) {
          Thread.sleep(PAUSE_MS); // The merger lets fetchers pass while it does not merge.
          return false;
        }
        isThere = copy(outputs, batch);
        if (Thread.currentThread().isInterrupted()) {
          return false;
        }
      }
      most = Math.min(GROWTH * most, MAX_REQUEST);
    }
    return true;
  }

  /**
   * Asks the node for map outputs.
   *
   * @param located gets those that can be READ
   * @return false if the node failed
   */
  private boolean locate(HostOutputs outputs, List<TaskAttemptID> asked, Deque<Located> located)
      throws InterruptedException {
    try {
      List<RemotePartition> answers =
          reader.locate(outputs.hostName(), asked.stream().mapToLong(MapIds::mapId).toArray());
      for (int i = 0; i < asked.size(); i++) {
        RemotePartition answer = answers.get(i);
        HttpReason failure = answer.failure();
        if (failure == null && Math.min(answer.bytes(), answer.rawBytes()) < padding) {
          failure = HttpReason.CHECKSUM; // The partition is too short to be an encrypted one.
        }
        if (failure == null) {
          located.add(new Located(asked.get(i), answer));
        } else if (failure == HttpReason.STAGING) {
          outputs.late(asked.get(i), answer);
        } else {
          outputs.leave(asked.get(i), failure, answer);
        }
      }
      return true;
    } catch (NodeReadException e) {
      if (e.reason() == HttpReason.STAGING) { // The disks of others may answer.
        outputs.leave(asked, e.reason(), e);
      } else {
        outputs.leaveAll(e.reason(), e);
      }
    } catch (RuntimeException | LinkageError e) { // A defect of the reader fails no task.
      outputs.leaveAll(HttpReason.OFF, e);
    }
    return false;
  }

  /**
   * Reserves room for a batch.
   *
   * @return false if the merger has no room for more now
   */
  private boolean reserve(Deque<Located> located, List<Reserved<K, V>> batch) throws IOException {
    long bytes = 0;
    int most = isCompressed ? MAX_COSTLY_BATCH : MAX_BATCH;
    while (!located.isEmpty() && batch.size() < most && bytes < MAX_BATCH_BYTES) {
      Located next = located.peek();
      MapOutput<K, V> target =
          hadoopMerger.reserve(next.attempt, next.partition.rawBytes() - padding, id);
      if (target == null) {
        return false;
      }
      located.remove();
      batch.add(new Reserved<>(next, new CountedOutput<>(target, null, counters)));
      bytes += Math.max(next.partition.bytes(), next.partition.rawBytes());
      if (target.getDescription().equals(ON_DISK)) {
        most = MAX_COSTLY_BATCH;
      }
    }
    return true;
  }

  /**
   * Copies a batch. After wrong bytes, the others that follow are READ another time.
   *
   * @return false if the node failed
   */
  private boolean copy(HostOutputs outputs, List<Reserved<K, V>> batch) {
    MapHost host = outputs.host();
    List<RemotePartition> wanted = new ArrayList<>();
    batch.forEach(each -> wanted.add(each.located.partition));
    int copied = 0;
    try (PartitionStream bytes = new PartitionStream(reader.open(wanted))) {
      for (Reserved<K, V> each : batch) {
        copy(host, each, bytes);
        outputs.copied(each.located.attempt);
        copied++;
      }
      return true;
    } catch (InterruptedIOException e) { // This task ends.
      drop(host, batch, copied);
      Thread.currentThread().interrupt();
      return false;
    } catch (NodeReadException e) {
      List<TaskAttemptID> failed = new ArrayList<>();
      drop(host, batch, copied).forEach(each -> failed.add(each.located.attempt));
      outputs.leave(failed, e.reason(), e);
      return false;
    } catch (IOException | RuntimeException | LinkageError | InternalError e) { // also of codecs
      List<Reserved<K, V>> notCopied = drop(host, batch, copied);
      if (!notCopied.isEmpty()) {
        outputs.leave(notCopied.get(0).located.attempt, HttpReason.CHECKSUM, e);
      }
      return true;
    }
  }

  /** Gives back the room of map outputs that were not copied, and returns them. */
  private List<Reserved<K, V>> drop(MapHost host, List<Reserved<K, V>> batch, int copied) {
    List<Reserved<K, V>> notCopied = batch.subList(copied, batch.size());
    for (Reserved<K, V> each : notCopied) {
      release(host, each);
      each.target.abort();
    }
    return notCopied;
  }

  /**
   * Has a map output return its decompressor to the pool, or close its file. Hadoop's classes do so
   * when their shuffle ends, not in {@code abort}. The shuffle of an empty stream fails at once.
   */
  private void release(MapHost host, Reserved<K, V> output) {
    if (output.isShuffled) {
      return;
    }
    try {
      shuffle(host, output, new ByteArrayInputStream(new byte[0]));
    } catch (IOException | RuntimeException | LinkageError | InternalError expected) {
      // It lacks its bytes.
    }
  }

  private void shuffle(MapHost host, Reserved<K, V> output, InputStream bytes) throws IOException {
    RemotePartition partition = output.located.partition;
    output.isShuffled = true;
    output.target.shuffle(
        host,
        bytes,
        partition.bytes() - padding,
        partition.rawBytes() - padding,
        metrics,
        reporter);
  }

  private void copy(MapHost host, Reserved<K, V> output, PartitionStream bytes) throws IOException {
    long startMs = System.nanoTime() / 1_000_000;
    long length = output.located.partition.bytes();
    bytes.begin(length);
    // Without padding, the data is not encrypted. Asking the configuration each time takes longer.
    shuffle(host, output, padding == 0 ? bytes : CryptoUtils.wrapIfNecessary(conf, bytes, length));
    bytes.end();
    long endMs = System.nanoTime() / 1_000_000;
    scheduler.copySucceeded(
        output.located.attempt, host, length - padding, startMs, endMs, output.target);
    metrics.successFetch();
  }

  /**
   * Has Hadoop fetch map outputs by HTTP, a few at a time: first those that the node has, then the
   * missing ones. Hadoop asks for all that it finds at the host, so the others are taken away
   * meanwhile.
   */
  private void fetch(HostOutputs outputs) throws IOException {
    MapHost host = outputs.host();
    // A failed fetch penalizes the host, which then is not asked for some time. A node that has no
    // connection left does so too, but then nothing has failed.
    while (outputs.hasHttp() && host.getState() != MapHost.State.PENALIZED) {
      outputs.take();
      List<TaskAttemptID> some = outputs.giveBackForHttp();
      long failedBefore = failedFetches.getValue();
      super.copyFromHost(host);
      if (host.getState() == MapHost.State.PENALIZED && failedFetches.getValue() > failedBefore) {
        byHttp.failed(host.getHostName(), some);
      }
      if (host.getNumKnownMapOutputs() > 0) {
        return; // They failed, the merger had no room, or others became known.
      }
    }
  }
}
