// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.file.DiskFile;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.soft.FrameBatch.FrameBuffers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.GatheringByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FrameBatchTest {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  @TempDir Path directory;

  private final FrameBuffers pool = new FrameBuffers();
  private final FrameBatch batch = new FrameBatch(pool);
  private final Sink sink = new Sink();
  private TestNode node;

  /** Takes the written bytes, up to a limit per call. */
  private static final class Sink implements GatheringByteChannel {
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private int maxBytes = Integer.MAX_VALUE;
    private int pieces;

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
      int room = maxBytes;
      pieces = length;
      for (int i = offset; i < offset + length; i++) {
        byte[] bytes = new byte[Math.min(room, sources[i].remaining())];
        sources[i].get(bytes);
        written.writeBytes(bytes);
        room -= bytes.length;
      }
      return maxBytes - room;
    }

    @Override
    public long write(ByteBuffer[] sources) {
      return write(sources, 0, sources.length);
    }

    @Override
    public int write(ByteBuffer source) {
      return (int) write(new ByteBuffer[] {source}, 0, 1);
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  @BeforeEach
  void open() throws IOException {
    SoftOptions options = SoftOptions.DEFAULT.with(o -> o.leaks = leaks.tracker());
    node = new TestNode(new SoftProvider(options).open(InetAddress.getLoopbackAddress()));
  }

  @AfterEach
  void close() {
    node.close();
  }

  private SoftMemoryRegion region(int bytes, int value) throws IOException {
    SoftMemoryRegion region = (SoftMemoryRegion) node.register(bytes, TestNode.ALL);
    node.memory(region).fill((byte) value);
    return region;
  }

  private void addFrame(SoftMemoryRegion region, int bytes) {
    FrameHeader.encodeData(batch.header(), bytes);
    batch.add(region.slice(region.address(), bytes), region);
  }

  /** Checks the first and the last payload byte of the frame at an offset of the written bytes. */
  private void assertFrame(int offset, int bytes, int value) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(sink.written.toByteArray()).position(offset);
    FrameHeader header = new FrameHeader();
    header.decode(in);
    assertThat(header.length).isEqualTo(bytes);
    byte[] payload = new byte[bytes];
    in.get(payload);
    assertThat(payload).containsOnly(value);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1000, 1", "4096, 1", "4097, 4"})
  void smallPayloadsAreOnePieceWithTheirHeaders(int bytes, int pieces) throws Exception {
    addFrame(region(bytes, 1), bytes);
    addFrame(region(bytes, 2), bytes);
    batch.writeTo(sink);
    assertThat(sink.pieces).isEqualTo(pieces);
    assertFrame(0, bytes, 1);
    assertFrame(FrameHeader.BYTES + bytes, bytes, 2);
    assertThat(batch.isEmpty()).isTrue();
  }

  /** Includes payloads that end like a copy that stopped at a fault. */
  @Test
  void everyPayloadArrivesWithAnyLastByte() throws Exception {
    for (int value = Byte.MIN_VALUE; value <= Byte.MAX_VALUE; value++) {
      SoftMemoryRegion region = region(100, value);
      addFrame(region, 100);
      addFrame(region, 1);
      batch.writeTo(sink);
      assertFrame(0, 100, value);
      assertFrame(FrameHeader.BYTES + 100, 1, value);
      sink.written.reset();
    }
  }

  @Test
  void mixedPayloadsKeepTheirOrderWhenTheSocketTakesLittle() throws Exception {
    int[] sizes = {10, 5000, 4096, 1, 70_000, 300};
    for (int i = 0; i < sizes.length; i++) {
      addFrame(region(sizes[i], i), sizes[i]);
    }
    sink.maxBytes = 777;
    while (!batch.isEmpty()) {
      batch.writeTo(sink);
    }
    int offset = 0;
    for (int i = 0; i < sizes.length; i++) {
      assertFrame(offset, sizes[i], i);
      offset += FrameHeader.BYTES + sizes[i];
    }
  }

  @Test
  void batchIsFullBeforeItsBufferIs() throws Exception {
    SoftMemoryRegion region = region(1000, 3);
    int frames = 0;
    while (batch.hasRoom()) {
      addFrame(region, 1000);
      frames++;
    }
    batch.writeTo(sink);
    for (int i = 0; i < frames; i++) {
      assertFrame(i * (FrameHeader.BYTES + 1000), 1000, 3);
    }
  }

  @Test
  void onlyABatchThatHasSomethingToSendHoldsABuffer() throws Exception {
    addFrame(region(10, 1), 10);
    ByteBuffer held = batch.header();
    assertThat(pool.take()).isNotSameAs(held);
    batch.writeTo(sink);
    assertThat(pool.take()).isSameAs(held);
  }

  private RandomAccessFile file(int bytes, int value) throws IOException {
    RandomAccessFile file = new RandomAccessFile(directory.resolve("file" + value).toFile(), "rw");
    byte[] content = new byte[bytes];
    Arrays.fill(content, (byte) value);
    file.write(content);
    return file;
  }

  private void addFrame(SoftFileRegion region, int bytes) throws IOException {
    FrameHeader.encodeData(batch.header(), bytes);
    batch.add(region, region.address(), bytes);
  }

  private SoftFileRegion region(RandomAccessFile file) throws IOException {
    return (SoftFileRegion) node.pd.registerFile(new CachedFile(file), file.length());
  }

  private void writeAll() throws IOException {
    while (!batch.isEmpty()) {
      batch.writeTo(sink);
    }
  }

  @Test
  void smallPiecesOfFilesAreOnePieceWithTheirHeaders() throws Exception {
    SoftFileRegion first = region(file(10_000, 1));
    SoftFileRegion second = region(file(10_000, 2));
    addFrame(first, 10_000);
    addFrame(second, 10_000);
    addFrame(region(100, 3), 100);
    batch.writeTo(sink);
    assertThat(sink.pieces).isEqualTo(1);
    assertFrame(0, 10_000, 1);
    assertFrame(FrameHeader.BYTES + 10_000, 10_000, 2);
    assertFrame(2 * (FrameHeader.BYTES + 10_000), 100, 3);
  }

  @Test
  void aLargePieceOfAFileIsTheLast() throws Exception {
    addFrame(region(5000, 1), 5000);
    addFrame(region(file(10, 2)), 10);
    assertThat(batch.hasRoom()).isTrue();
    addFrame(region(file(300_000, 3)), 300_000);
    assertThat(batch.hasRoom()).isFalse();
    sink.maxBytes = 777;
    writeAll();
    assertFrame(0, 5000, 1);
    assertFrame(FrameHeader.BYTES + 5000, 10, 2);
    assertFrame(2 * FrameHeader.BYTES + 5010, 300_000, 3);
    assertThat(batch.hasRoom()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"300000, 300000", "100000, 100000", "65536, 65536", "65535, 65536", "0, 65536"})
  void aLargePieceOfAFileIsSentAsFarAsItIsCached(int told, int sent) throws Exception {
    CachedFile file = new CachedFile(file(300_000, 1), told);
    SoftFileRegion region = (SoftFileRegion) node.pd.registerFile(file, 300_000);
    FrameHeader.encodeData(batch.header(), sent);
    assertThat(batch.add(region, region.address(), 300_000)).isEqualTo(sent);
    assertThat(batch.hasRoom()).isFalse();
    sink.maxBytes = 777;
    writeAll();
    assertFrame(0, sent, 1);
    assertThat(sink.written.size()).isEqualTo(FrameHeader.BYTES + sent);
  }

  @Test
  void aSmallPieceWhosePagesAloneAreToldIsRead() throws Exception {
    DiskFile file =
        new DiskFile(file(10_000, 1)) {
          @Override
          public int cachedBytes(long position, int bytes) {
            return (int) Math.clamp(5_000 - position, 0L, bytes);
          }
        };
    SoftFileRegion region = (SoftFileRegion) node.pd.registerFile(file, 10_000);
    addFrame(region, 5_000);
    assertThat(batch.add(region, region.address(), 5_001)).isZero();
    writeAll();
    assertFrame(0, 5_000, 1);
    assertThat(sink.written.size()).isEqualTo(FrameHeader.BYTES + 5_000);
  }

  @Test
  void aLargePieceOfWhichNothingIsKnownLeavesTheBatchAsItWas() throws Exception {
    DiskFile file = new DiskFile(file(300_000, 1));
    SoftFileRegion region = (SoftFileRegion) node.pd.registerFile(file, 300_000);
    addFrame(region(100, 2), 100);
    assertThat(batch.add(region, region.address(), 300_000)).isZero();
    assertThat(batch.hasRoom()).isTrue();
    writeAll();
    assertThat(sink.written.size()).isEqualTo(FrameHeader.BYTES + 100);
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 300_000})
  void aFileThatIsTooShortLeavesTheBatchAsItWas(int bytes) throws Exception {
    RandomAccessFile file = file(bytes, 1);
    SoftFileRegion region = region(file);
    addFrame(region(100, 2), 100);
    file.setLength(bytes - 1);
    int before = batch.header().position();
    assertThatThrownBy(() -> batch.add(region, region.address(), bytes))
        .isInstanceOf(EOFException.class);
    assertThat(batch.header().position()).isEqualTo(before);
    writeAll();
    assertThat(sink.written.size()).isEqualTo(FrameHeader.BYTES + 100);
  }

  @Test
  void aFileThatBecomesTooShortInTheMiddleOfItsFrameIsAnError() throws Exception {
    RandomAccessFile file = file(300_000, 1);
    addFrame(region(file), 300_000);
    sink.maxBytes = 777;
    batch.writeTo(sink);
    file.setLength(0);
    assertThatThrownBy(this::writeAll).isInstanceOf(EOFException.class);
  }

  @Test
  void aFileThatIsDeregisteredIsClosedWhenItsFrameIsSentOrGivenUp() throws Exception {
    RandomAccessFile file = file(300_000, 1);
    SoftFileRegion region = region(file);
    addFrame(region, 300_000);
    sink.maxBytes = 777;
    batch.writeTo(sink);
    region.close();
    assertThat(file.getChannel().isOpen()).isTrue();
    writeAll();
    assertFrame(0, 300_000, 1);
    assertThat(file.getChannel().isOpen()).isFalse();

    RandomAccessFile other = file(300_000, 2);
    SoftFileRegion otherRegion = region(other);
    addFrame(otherRegion, 300_000);
    otherRegion.close();
    assertThat(other.getChannel().isOpen()).isTrue();
    batch.clear();
    assertThat(other.getChannel().isOpen()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 1000, 4096})
  void memoryThatCannotBeCopiedIsLeftToTheKernelWhichReportsTheFault(int bytes) throws Exception {
    SoftMemoryRegion good = region(bytes, 1);
    for (int i = 0; i < 20_000; i++) { // until the copy is compiled
      addFrame(good, bytes);
      batch.clear();
    }
    try (Arena arena = Arena.ofShared();
        FileChannel file =
            FileChannel.open(
                directory.resolve("truncated"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment mapping = file.map(MapMode.READ_WRITE, 0, 8192, arena);
      file.truncate(0);
      try (SoftMemoryRegion bad = (SoftMemoryRegion) node.pd.register(mapping, TestNode.ALL)) {
        for (int i = 0; i < 100; i++) {
          assertThat(copiesAll(bad, bytes)).isFalse();
        }
      }
    }
  }

  /**
   * Returns true if a frame with the region's bytes would be sent without accessing its memory
   * again.
   */
  private boolean copiesAll(SoftMemoryRegion region, int bytes) {
    boolean copied = false;
    try {
      addFrame(region, bytes);
      copied = batch.header().position() > FrameHeader.BYTES;
      for (int i = 0; i < 1000; i++) {
        Thread.onSpinWait(); // so that the late error is thrown here
      }
    } catch (InternalError expected) {
      assertThat(expected).hasMessageContaining("unsafe memory access");
    } finally {
      batch.clear();
    }
    return copied;
  }
}
