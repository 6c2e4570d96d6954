// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.file.DiskFile;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.rdma.transfer.SoftPair.Answer;
import dev.sluice.rdma.transfer.SoftPair.Server;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A peer has files on two disks, of which one cannot be read. Their READs share a queue pair. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnreadableFileTest {
  private static final int BYTES = 200_000;
  private static final int GOOD_READS = 100;
  private static final int BAD_READS = 10;
  private static final long LONG_MS = 25_000;

  /** A file that is not in the page cache. */
  private static class ColdFile extends DiskFile {
    final AtomicInteger asked = new AtomicInteger();
    private final long disk;

    ColdFile(Path path, long disk) throws IOException {
      super(new RandomAccessFile(path.toFile(), "r"));
      this.disk = disk;
    }

    @Override
    public long disk() {
      return disk;
    }

    @Override
    public boolean tellsCached() {
      return true;
    }

    @Override
    public int read(long position, ByteBuffer target, boolean cached) throws IOException {
      if (cached) {
        return 0;
      }
      asked.incrementAndGet();
      ask();
      return super.read(position, target, false);
    }

    /** Waits for the disk. */
    void ask() throws IOException {}
  }

  private static final class HangingFile extends ColdFile {
    final CountDownLatch answers = new CountDownLatch(1);

    HangingFile(Path path, long disk) throws IOException {
      super(path, disk);
    }

    @Override
    void ask() throws IOException {
      try {
        answers.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  @TempDir Path directory;
  private final byte[] bytes = new byte[BYTES];
  private Path path;
  private SoftPair pair;
  private Server server;

  @BeforeEach
  void open() throws Exception {
    new Random(7).nextBytes(bytes);
    path = Files.write(directory.resolve("data"), bytes);
    pair =
        new SoftPair(
            SoftPair.OPTIONS.with(
                o -> {
                  o.circuitFailures = 3;
                  o.circuitCooldownMs = 60_000;
                }));
    server = pair.serve("a", 8, "");
  }

  @AfterEach
  void close() {
    pair.close();
  }

  private RemoteRegion register(DiskFile file) throws IOException {
    MemoryRegion region = server.endpoint().protectionDomain().registerFile(file, BYTES);
    return new RemoteRegion(region.address(), BYTES, region.rkey());
  }

  private CompletableFuture<Answer> read(RemoteRegion file) {
    return pair.read(server, List.of(file), LONG_MS);
  }

  /** READs both files at the same time: READs of the good file succeed, the others are refused. */
  private void assertOneFileIsRead(RemoteRegion good, RemoteRegion bad) throws Exception {
    List<CompletableFuture<Answer>> goodReads = new ArrayList<>();
    List<CompletableFuture<Answer>> badReads = new ArrayList<>();
    for (int i = 0; i < GOOD_READS; i++) {
      if (i % (GOOD_READS / BAD_READS) == 0) {
        badReads.add(read(bad));
      }
      goodReads.add(read(good));
    }
    for (CompletableFuture<Answer> read : goodReads) {
      assertRead(SoftPair.await(read));
    }
    for (CompletableFuture<Answer> read : badReads) {
      Answer answer = SoftPair.await(read);
      assertThat(answer.failure().failure()).isEqualTo(Cause.STALE_LOCATION);
      answer.target().release();
    }
    Counters<TransferCounter> counters = pair.reader.counters();
    assertThat(counters.get(TransferCounter.CIRCUIT_OPENINGS)).isZero();
    assertThat(counters.get(TransferCounter.READ_RETRIES)).isZero();
    assertThat(counters.get(TransferCounter.QUEUE_PAIRS_FAILED)).isEqualTo(BAD_READS);
  }

  private void assertRead(Answer answer) {
    assertThat(answer.failure()).isNull();
    assertThat(answer.target().segment().asSlice(0, BYTES).mismatch(MemorySegment.ofArray(bytes)))
        .isEqualTo(-1);
    answer.target().release();
  }

  @Test
  void aDiskThatFailsHoldsUpNoReadsOfOthers() throws Exception {
    ColdFile failing =
        new ColdFile(path, 1) {
          @Override
          void ask() throws IOException {
            throw new IOException("thrown by a test");
          }
        };
    assertOneFileIsRead(register(new ColdFile(path, 2)), register(failing));
  }

  @Test
  void aDiskThatHangsHoldsUpNoReadsOfOthers() throws Exception {
    HangingFile hanging = new HangingFile(path, 1);
    try {
      assertOneFileIsRead(register(new ColdFile(path, 2)), register(hanging));
      assertThat(hanging.asked).hasValue(1);
    } finally {
      hanging.answers.countDown();
    }
  }

  @Test
  void aDiskThatAnswersAgainIsRead() throws Exception {
    HangingFile hanging = new HangingFile(path, 1);
    RemoteRegion file = register(hanging);
    CompletableFuture<Answer> refused = read(file);
    try {
      Answer answer = SoftPair.await(refused);
      assertThat(answer.failure().failure()).isEqualTo(Cause.STALE_LOCATION);
      answer.target().release();
    } finally {
      hanging.answers.countDown();
    }
    Answer answer = SoftPair.await(read(file));
    while (answer.failure() != null) { // The class has a timeout.
      answer.target().release();
      answer = SoftPair.await(read(file));
    }
    assertRead(answer);
  }
}
