// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.Source;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.SparkReading;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A reduce task that fetches the blocks of executor 7 in batches through a {@link ReadFixture}.
 * Blocks that it leaves to Spark's iterator are recorded, and delivered as they were written.
 * Blocks should have some bytes each, so that the streams show which blocks they have.
 */
final class BatchFetchFixture implements SparkReading {
  private static final BlockManagerId EXECUTOR =
      BlockManagerId.apply("7", "host", 99, Option.empty());

  final ReadFixture reads;

  /** Sums of the calls of Spark's reporter, by method. */
  final Map<String, Long> metrics = new TreeMap<>();

  /** Blocks that Spark's iterators were asked for. */
  final List<String> bySpark = new ArrayList<>();

  /** The ones among these blocks that it has to fetch without a READ. */
  final List<String> late = new ArrayList<>();

  /** Blocks of the streams that the task has read, however they were fetched. */
  final List<String> delivered = new ArrayList<>();

  /** The last of Spark's iterators; null before the first. */
  SparkBlocks lastAsker;

  /** True if Spark's iterators fail when they are asked for a block. */
  boolean sparkFails;

  /** True if every call of Spark's reporter fails. */
  boolean reporterFails;

  /** True if the blocks of a batch are one stream. */
  boolean concatenates = true;

  /** Limit of the bytes that one of Spark's iterators may have under way. */
  long maxBytesInFlight = 48 << 20;

  /** Number of streams of batches. */
  int batches;

  private final Source source;
  private final RemoteBatches remote;
  private final RdmaBlockFetcherIterator blocks;
  private Set<String> expected;

  BatchFetchFixture(ReadFixture reads) {
    this(reads, UnaryOperator.identity(), null);
  }

  /** A reader of a task that has others. */
  BatchFetchFixture(ReadFixture reads, TaskReads task) {
    this(reads, null, metrics -> BatchFetcher.open(reads.client.path, task, metrics::arrived));
  }

  /**
   * A reader as the shuffle makes it.
   *
   * @param local map outputs of the task's executor if it runs on executor 7 itself, else null
   */
  BatchFetchFixture(ReadFixture reads, TaskContext task, MapOutputRegistry local) {
    this(reads, local, metrics -> reads.client.gather(task, metrics::arrived));
  }

  /**
   * @param batches wraps the batches that the task receives
   * @param local map outputs of the task's executor if it runs on executor 7 itself, else null
   */
  BatchFetchFixture(
      ReadFixture reads, UnaryOperator<RemoteBatches> batches, MapOutputRegistry local) {
    this(reads, local, metrics -> batches.apply(reads.client.gather(null, metrics::arrived)));
  }

  private BatchFetchFixture(
      ReadFixture reads,
      MapOutputRegistry local,
      Function<CountingReadMetrics, RemoteBatches> open) {
    CountingReadMetrics gatherMetrics = new CountingReadMetrics(reporter(), reads.counters);
    this.reads = reads;
    this.source = local == null ? Source.REMOTE : Source.LOCAL;
    this.remote = open.apply(gatherMetrics);
    this.blocks = new RdmaBlockFetcherIterator(this, local, remote, gatherMetrics);
  }

  private ShuffleReadMetricsReporter reporter() {
    return (ShuffleReadMetricsReporter)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ShuffleReadMetricsReporter.class},
            (_, method, arguments) -> {
              if (reporterFails) {
                throw new IllegalStateException("of the reporter");
              }
              metrics.merge(method.getName(), (Long) arguments[0], Long::sum);
              return null;
            });
  }

  /** Starts to fetch the blocks, which the tracker reports on executor 7. */
  BatchFetchFixture start(String... blockIds) {
    expected = new LinkedHashSet<>(Arrays.asList(blockIds));
    List<Tuple3<BlockId, Object, Object>> infos = new ArrayList<>();
    for (String id : expected) {
      infos.add(new Tuple3<>(BlockId$.MODULE$.apply(id), (long) reads.written(id).length, 0));
    }
    blocks.start(List.of(new BlocksByAddress(EXECUTOR, infos)), _ -> source, false);
    return this;
  }

  /** Reads all streams that are left. */
  BatchFetchFixture readAll() {
    while (readNext()) {
      continue;
    }
    return this;
  }

  /** Takes all streams that are left without reading them. */
  void skipAll() {
    while (blocks.hasNext()) {
      blocks.next();
    }
  }

  /** Returns true if there is another stream, which the task then has. */
  boolean hasNext() {
    return blocks.hasNext();
  }

  /** Reads a stream to its end and closes it. Returns false if there is none. */
  boolean readNext() {
    if (!blocks.hasNext()) {
      return false;
    }
    try (InputStream stream = blocks.next()._2()) {
      note(stream.readAllBytes());
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads all streams that are left, like a deserialiser that closes none. */
  BatchFetchFixture readAllAndCloseNothing() {
    try {
      while (blocks.hasNext()) {
        note(blocks.next()._2().readAllBytes());
      }
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Takes the arrivals without a wait, and keeps them. */
  void poll() {
    remote.poll();
  }

  /** Runs a step while the task waits. The task goes on after it. */
  void whileItWaits(Runnable step) {
    synchronized (remote) {
      step.run();
    }
  }

  /** Closes the reader, as the end of its task does. */
  void close() {
    remote.close();
  }

  private void note(byte[] bytes) {
    int position = 0;
    while (position < bytes.length) {
      String block = at(bytes, position);
      delivered.add(block);
      position += reads.written(block).length;
    }
  }

  /** Returns the block that begins here. */
  private String at(byte[] bytes, int position) {
    for (String block : expected) {
      byte[] written = reads.written(block);
      int end = position + written.length;
      if (written.length > 0
          && end <= bytes.length
          && Arrays.equals(bytes, position, end, written, 0, written.length)) {
        return block;
      }
    }
    throw new AssertionError("no block begins at byte " + position + " of " + bytes.length);
  }

  @Override
  public Iterator<Tuple2<BlockId, InputStream>> fetch(
      List<BlocksByAddress> tracked, SparkBlocks asker) {
    lastAsker = asker;
    List<Tuple2<BlockId, InputStream>> streams = new ArrayList<>();
    tracked.stream()
        .flatMap(ofExecutor -> ofExecutor.blocks().stream())
        .forEach(
            block -> {
              String id = block._1().toString();
              bySpark.add(id);
              if (asker.areLate()) {
                late.add(id);
              }
              streams.add(new Tuple2<>(block._1(), new ByteArrayInputStream(reads.written(id))));
              asker.asked(1);
              asker.answered();
            });
    return CollectionConverters.asScala(streams.iterator())
        .map(
            stream -> {
              if (sparkFails) {
                throw new IllegalStateException("the fetch failed");
              }
              return stream;
            });
  }

  @Override
  public boolean concatenates() {
    return concatenates;
  }

  @Override
  public long maxBytesInFlight() {
    return maxBytesInFlight;
  }

  @Override
  public InputStream wrap(BlockId blockId, InputStream stream) {
    batches++;
    return stream;
  }

  @Override
  public boolean detectsCorruption() {
    return true;
  }
}
