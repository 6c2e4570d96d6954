// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.file.DiskFile;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A task reads a file that its own process has registered, and the disk hangs. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SlowFileTest extends SoftNodes {
  private static final int BYTES = 200_000;

  /** Exceeds the number of windows of {@code ReadAhead}. */
  private static final int MANY_FILES = 1100;

  /** A file whose reads by tasks hang until the test allows them. Reads by its channel do not. */
  private static final class SlowFile extends RandomAccessFile {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch answers = new CountDownLatch(1);

    SlowFile(Path path) throws IOException {
      super(path.toFile(), "r");
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      await();
      return super.read(target, offset, length);
    }

    @Override
    public int read(byte[] target) throws IOException {
      await();
      return super.read(target);
    }

    private void await() throws IOException {
      asked.countDown();
      try {
        answers.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  private final ExecutorService tasks = Executors.newSingleThreadExecutor();
  private TestNode right;
  private SlowFile file;
  private FileRegion region;

  @BeforeEach
  void register() throws Exception {
    right = open(SoftOptions.DEFAULT);
    file = new SlowFile(Files.write(directory.resolve("slow"), new byte[BYTES]));
    region = right.pd.registerFile(new DiskFile(file), BYTES);
  }

  @AfterEach
  void end() {
    file.answers.countDown();
    tasks.close();
  }

  /** Starts to read the first bytes of the file, and returns while the disk hangs. */
  private Future<byte[]> startTask(int bytes) throws InterruptedException {
    Future<byte[]> task =
        tasks.submit(
            () -> {
              byte[] target = new byte[bytes];
              region.copy(0, target, 0, bytes);
              return target;
            });
    file.asked.await();
    return task;
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 100_000})
  void peersReadIt(int taskBytes) throws Exception {
    startTask(taskBytes);
    MemoryRegion target = left.register(BYTES, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    for (int bytes : new int[] {1, 1000, 20_000, BYTES}) {
      queuePair.postSend(
          List.of(
              new SendWorkRequest(
                  bytes,
                  new ScatterGatherEntry(target.address(), bytes, target.lkey()),
                  region.address(),
                  region.rkey(),
                  true)));
      assertThat(left.await(1)).allMatch(completed -> completed.status() == SUCCESS);
    }
  }

  @Test
  void otherFilesAreRead() throws Exception {
    startTask(100);
    Path other = Files.write(directory.resolve("other"), new byte[100]);
    for (int i = 0; i < MANY_FILES; i++) {
      try (FileRegion source = right.pd.registerFile(DiskFile.open(other), 100)) {
        source.copy(0, new byte[10], 0, 10);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 100_000})
  void deregistrationDoesNotWaitAndTheTaskGetsItsBytes(int taskBytes) throws Exception {
    Future<byte[]> task = startTask(taskBytes);
    region.close();
    assertThat(file.getChannel().isOpen()).isTrue();
    file.answers.countDown();
    assertThat(task.get(10, TimeUnit.SECONDS)).hasSize(taskBytes);
    assertThat(file.getChannel().isOpen()).isFalse();
  }
}
