// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.sluice.spark.fetch.DecodedBatchStream.BatchStreams;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.SparkReading;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.spark.FetchFailed;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;

/** A batch reads like one block, and its errors name the member that they are in. */
class DecodedBatchStreamTest {
  private static final BlockManagerId EXECUTOR =
      BlockManagerId.apply("7", "host", 99, Option.empty());
  private static final int MAPS = 20;
  private static final int BLOCK_BYTES = 5_000;

  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private int releases;

  /** Returns a batch of one block from each map output. Map ids are ten times the map index. */
  private FetchedBatch batch(UnaryOperator<OutputStream> codec, int corrupt) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    List<Tuple3<BlockId, Object, Object>> blocks = new ArrayList<>();
    int[] ends = new int[MAPS];
    for (int map = 0; map < MAPS; map++) {
      byte[] block = new byte[BLOCK_BYTES];
      new Random(map).nextBytes(block);
      written.write(block);
      ByteArrayOutputStream encoded = new ByteArrayOutputStream();
      try (OutputStream out = codec.apply(encoded)) {
        out.write(block);
      }
      byte[] member = encoded.toByteArray();
      if (map == corrupt) {
        member[0] ^= 0x55;
      }
      bytes.write(member);
      ends[map] = bytes.size();
      blocks.add(new Tuple3<>(new ShuffleBlockId(3, 10L * map, 5), (long) member.length, map));
    }
    ExecutorBlocks group = ExecutorBlocks.of(new BlocksByAddress(EXECUTOR, blocks), false, false);
    return new FetchedBatch(
        group,
        0,
        ends,
        MemorySegment.ofArray(bytes.toByteArray()),
        FetchedBatch.Way.LOCAL,
        _ -> releases++);
  }

  /** Returns one stream over all members. */
  private static InputStream stream(FetchedBatch batch, Reading reading) {
    return new BatchStreams(batch, reading).next()._2();
  }

  private static CompressionCodec codec(String name) {
    return CompressionCodec$.MODULE$.createCodec(new SparkConf(false), name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lz4", "zstd", "snappy", "lzf"})
  void oneDecompressorReadsAllMembers(String name) throws Exception {
    CompressionCodec codec = codec(name);
    FetchedBatch batch = batch(codec::compressedOutputStream, -1);
    try (InputStream stream = stream(batch, new Reading(codec, true))) {
      assertThat(stream.readAllBytes()).isEqualTo(written.toByteArray());
    }
    assertThat(releases).isEqualTo(1);
  }

  @Test
  void plainBytesAreReadAsTheyAre() throws Exception {
    FetchedBatch batch = batch(UnaryOperator.identity(), -1);
    try (InputStream stream = new BufferedInputStream(stream(batch, new Reading(null, true)))) {
      assertThat(stream.read()).isEqualTo(written.toByteArray()[0] & 0xFF);
      stream.skipNBytes(12_000);
      assertThat(stream.readAllBytes())
          .containsExactly(Arrays.copyOfRange(written.toByteArray(), 12_001, written.size()));
    }
    assertThat(releases).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lz4", "zstd"})
  void aMemberThatCannotBeDecompressedIsAFailedFetchOfItsMapOutput(String name) throws Exception {
    CompressionCodec codec = codec(name);
    for (int corrupt : new int[] {0, 7, MAPS - 1}) {
      FetchedBatch batch = batch(codec::compressedOutputStream, corrupt);
      InputStream stream = stream(batch, new Reading(codec, true));

      Throwable failure = catchThrowable(stream::readAllBytes);

      assertThat(failure).isInstanceOf(FetchFailedException.class);
      FetchFailed reason = (FetchFailed) ((FetchFailedException) failure).toTaskFailedReason();
      assertThat(reason.bmAddress()).isEqualTo(EXECUTOR);
      assertThat(reason.shuffleId()).isEqualTo(3);
      assertThat(reason.mapId()).isEqualTo(10L * corrupt);
      assertThat(reason.mapIndex()).isEqualTo(corrupt);
      assertThat(reason.reduceId()).isEqualTo(5);
      assertThatThrownBy(batch::memory).isInstanceOf(IllegalStateException.class);
    }
    assertThat(releases).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lz4", "zstd"})
  void blocksThatDoNotConcatenateAreAStreamEach(String name) throws Exception {
    CompressionCodec codec = codec(name);
    FetchedBatch batch = batch(codec::compressedOutputStream, -1);
    BatchStreams streams = new BatchStreams(batch, new Reading(codec, true, false));
    for (int map = 0; map < MAPS; map++) {
      assertThat(releases).isZero();
      Tuple2<BlockId, InputStream> block = streams.next();
      assertThat(block._1()).isEqualTo(new ShuffleBlockId(3, 10L * map, 5));
      try (InputStream stream = block._2()) {
        assertThat(stream.readAllBytes())
            .isEqualTo(
                Arrays.copyOfRange(
                    written.toByteArray(), map * BLOCK_BYTES, (map + 1) * BLOCK_BYTES));
      }
    }
    assertThat(streams.hasNext()).isFalse();
    assertThat(releases).isEqualTo(1);
  }

  @Test
  void amongStreamsOfTheirOwnTheWrongMemberIsNamed() throws Exception {
    CompressionCodec codec = codec("lz4");
    FetchedBatch batch = batch(codec::compressedOutputStream, 7);
    BatchStreams streams = new BatchStreams(batch, new Reading(codec, true, false));
    for (int map = 0; map < 7; map++) {
      streams.next()._2().close(); // whether it was read or not
    }
    Throwable failure = catchThrowable(() -> streams.next()._2().readAllBytes());
    assertThat(failure).isInstanceOf(FetchFailedException.class);
    FetchFailed reason = (FetchFailed) ((FetchFailedException) failure).toTaskFailedReason();
    assertThat(reason.mapId()).isEqualTo(70);
    streams.release();
    assertThat(releases).isEqualTo(1);
  }

  @Test
  void blocksThatAreNotInTheBatchHaveNoStream() throws IOException {
    int[] ends = {0, 10, 10, 30, 30};
    FetchedBatch whole =
        new FetchedBatch(group(), 2, ends, bytes(30), FetchedBatch.Way.LOCAL, _ -> releases++);
    BatchStreams streams = new BatchStreams(whole, new Reading(null, true, false));
    assertThat(streams.next()._1()).isEqualTo(new ShuffleBlockId(3, 30, 5));
    Tuple2<BlockId, InputStream> last = streams.next();
    assertThat(last._1()).isEqualTo(new ShuffleBlockId(3, 50, 5));
    assertThat(streams.hasNext()).isFalse();
    assertThat(releases).isZero();
    last._2().close();
    assertThat(releases).isEqualTo(1);
  }

  /** Happens if a thread reads on while its task ends. */
  @Test
  void bytesOfMemoryThatIsReleasedWhileItIsCopiedAreNotGiven() {
    int[] ends = {30};
    FetchedBatch whole =
        new FetchedBatch(group(), 0, ends, bytes(30), FetchedBatch.Way.LOCAL, _ -> {});
    Supplier<MemorySegment> releasing =
        () -> {
          MemorySegment memory = whole.memory();
          whole.release();
          return memory;
        };
    BatchInputStream raw = new BatchInputStream(releasing, ends, 0, ends.length);
    assertThatThrownBy(() -> raw.read(new byte[10])).hasMessageContaining("was released");
  }

  @Test
  void anEndThatComesTooEarlyIsTheLastMembersThatIsThere() throws IOException {
    int[] ends = {10, 30, 30, 30};
    FetchedBatch whole =
        new FetchedBatch(group(), 0, ends, bytes(30), FetchedBatch.Way.LOCAL, _ -> {});
    BatchInputStream raw = new BatchInputStream(whole::memory, ends, 0, ends.length);
    assertThat(raw.readAllBytes()).hasSize(30);
    assertThat(raw.read()).isEqualTo(-1);
    assertThat(raw.block()).isEqualTo(1);
  }

  private static MemorySegment bytes(int count) {
    return MemorySegment.ofArray(new byte[count]);
  }

  private static ExecutorBlocks group() {
    List<Tuple3<BlockId, Object, Object>> blocks = new ArrayList<>();
    for (int map = 0; map < MAPS; map++) {
      blocks.add(new Tuple3<>(new ShuffleBlockId(3, 10L * map, 5), 10L, map));
    }
    return ExecutorBlocks.of(new BlocksByAddress(EXECUTOR, blocks), false, false);
  }

  @Test
  void whereSparkDetectsNoCorruptionTheErrorIsTheCodecs() throws Exception {
    CompressionCodec codec = codec("lz4");
    FetchedBatch batch = batch(codec::compressedOutputStream, 7);
    try (InputStream stream = stream(batch, new Reading(codec, false))) {
      assertThatThrownBy(stream::readAllBytes).isInstanceOf(IOException.class);
    }
    assertThat(releases).isEqualTo(1);
  }

  @Test
  void releasedBatchesCannotBeRead() throws Exception {
    FetchedBatch batch = batch(UnaryOperator.identity(), -1);
    InputStream stream = stream(batch, new Reading(null, true));
    batch.release();
    assertThatThrownBy(stream::read).isInstanceOf(IllegalStateException.class);
    stream.close();
    assertThat(releases).isEqualTo(1);
  }

  /**
   * The parts of reading that Spark does.
   *
   * @param codec null for none
   */
  private record Reading(CompressionCodec codec, boolean detectsCorruption, boolean concatenates)
      implements SparkReading {
    Reading(CompressionCodec codec, boolean detectsCorruption) {
      this(codec, detectsCorruption, true);
    }

    @Override
    public Iterator<Tuple2<BlockId, InputStream>> fetch(
        List<BlocksByAddress> tracked, SparkBlocks asker) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long maxBytesInFlight() {
      throw new UnsupportedOperationException();
    }

    @Override
    public InputStream wrap(BlockId blockId, InputStream stream) {
      return codec == null ? stream : codec.compressedInputStream(stream);
    }
  }
}
