package dev.sluice.spark.read;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.spark.gather.GatherPlan;
import dev.sluice.spark.gather.GatheredBlocks;
import dev.sluice.spark.gather.RemoteChunks;
import dev.sluice.spark.gather.SparkBlocks;
import dev.sluice.spark.gather.SparkReading;
import dev.sluice.spark.gather.TrackedBlocks;
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
import java.util.function.UnaryOperator;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A reduce task that gathers the blocks of executor 7 through a {@link ReadFixture}. What it leaves
 * to Spark's iterator is recorded, and delivered as it was written. Blocks should have some bytes
 * each, so that the streams tell which are in them.
 */
final class GatherFixture implements SparkReading {
  private static final BlockManagerId EXECUTOR =
      BlockManagerId.apply("7", "host", 99, Option.empty());

  final ReadFixture reads;

  /** Sums of what Spark's reporter was told, by method. */
  final Map<String, Long> metrics = new TreeMap<>();

  /** What Spark's iterators were asked for. */
  final List<String> bySpark = new ArrayList<>();

  /** Blocks of the streams that the task has read, whoever fetched them. */
  final List<String> delivered = new ArrayList<>();

  /** Whether Spark's iterators fail when they are asked for a block. */
  boolean sparkFails;

  /** Whether the blocks of a chunk are one stream. */
  boolean concatenates = true;

  /** Streams that were gathered. */
  int chunks;

  private final GatherPlan.Source source;
  private final GatheredBlocks blocks;
  private Set<String> expected;

  GatherFixture(ReadFixture reads) {
    this(reads, UnaryOperator.identity(), null);
  }

  /** A reader of a task that has others. */
  GatherFixture(ReadFixture reads, TaskLimit limit) {
    this(reads, new TaskGather(reads.client.path, limit), GatherPlan.Source.REMOTE, null);
  }

  /**
   * @param chunks what the task sees of the chunks
   * @param local where the task finds the map outputs if it runs on executor 7 itself, else null
   */
  GatherFixture(ReadFixture reads, UnaryOperator<RemoteChunks> chunks, MapOutputRegistry local) {
    this(
        reads,
        chunks.apply(reads.client.gather(null)),
        local == null ? GatherPlan.Source.REMOTE : GatherPlan.Source.LOCAL,
        local);
  }

  private GatherFixture(
      ReadFixture reads, RemoteChunks remote, GatherPlan.Source source, MapOutputRegistry local) {
    this.reads = reads;
    this.source = source;
    blocks = new GatheredBlocks(this, local, remote, reporter(), reads.counters);
  }

  private ShuffleReadMetricsReporter reporter() {
    return (ShuffleReadMetricsReporter)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ShuffleReadMetricsReporter.class},
            (_, method, arguments) -> {
              metrics.merge(method.getName(), (Long) arguments[0], Long::sum);
              return null;
            });
  }

  /** Starts to fetch the blocks, which the tracker says are on executor 7. */
  GatherFixture start(String... blockIds) {
    expected = new LinkedHashSet<>(Arrays.asList(blockIds));
    List<TrackedBlocks.Block> infos =
        expected.stream()
            .map(
                id ->
                    new TrackedBlocks.Block(
                        BlockId$.MODULE$.apply(id), reads.written(id).length, 0))
            .toList();
    blocks.start(GatherPlan.of(List.of(new TrackedBlocks(EXECUTOR, infos)), _ -> source, false));
    return this;
  }

  /** Reads all that is left. */
  GatherFixture readAll() {
    while (readNext()) {
      continue;
    }
    return this;
  }

  /** Takes all that is left and reads nothing of it. */
  void skipAll() {
    while (blocks.hasNext()) {
      blocks.next();
    }
  }

  /** Whether there is another stream, which the task has then. */
  boolean hasNext() {
    return blocks.hasNext();
  }

  /** Reads a stream to its end and closes it; false where there is none. */
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

  /** Reads all that is left, as a deserialiser does that closes no stream. */
  GatherFixture readAllAndCloseNothing() {
    try {
      while (blocks.hasNext()) {
        note(blocks.next()._2().readAllBytes());
      }
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void close() {
    blocks.close();
  }

  private void note(byte[] bytes) {
    int position = 0;
    while (position < bytes.length) {
      String block = at(bytes, position);
      delivered.add(block);
      position += reads.written(block).length;
    }
  }

  /** The block that begins here. */
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
      List<TrackedBlocks> tracked, SparkBlocks asker) {
    List<Tuple2<BlockId, InputStream>> streams = new ArrayList<>();
    tracked.stream()
        .flatMap(ofExecutor -> ofExecutor.blocks().stream())
        .forEach(
            block -> {
              String id = block.id().toString();
              bySpark.add(id);
              streams.add(new Tuple2<>(block.id(), new ByteArrayInputStream(reads.written(id))));
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
    return 48 << 20;
  }

  @Override
  public InputStream wrap(BlockId blockId, InputStream stream) {
    chunks++;
    return stream;
  }

  @Override
  public boolean detectsCorruption() {
    return true;
  }
}
