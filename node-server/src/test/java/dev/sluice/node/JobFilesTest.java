// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static dev.sluice.node.JobFixture.mapId;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.handover.NodeSocket;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputIndex;
import dev.sluice.node.JobFile.MapReduceJob;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Map outputs of a job in two directories. The disk of the first hangs until {@link #answer}. */
@Timeout(60)
class JobFilesTest {
  private static final long ON_HANGING = mapId(1, 0);
  private static final long ON_GOOD = mapId(2, 0);

  @TempDir Path directory;
  private final CountDownLatch hangs = new CountDownLatch(1);
  private final CountDownLatch answer = new CountDownLatch(1);
  private Path hanging;
  private Path good;
  private JobFiles files;

  @BeforeEach
  void write() throws Exception {
    hanging = Files.createDirectory(directory.resolve("1"));
    good = Files.createDirectory(directory.resolve("2"));
    List<Path> directories = List.of(hanging, good);
    JobFixture job = new JobFixture("application_1700000000000_0001", "alice", directories);
    job.write(hanging, hanging, 1, 0, 10);
    job.write(good, good, 2, 0, 10);
    files = new JobFiles(job.name(), new MapReduceJob("alice", false), directories, this::exists);
  }

  @AfterEach
  void end() {
    answer.countDown();
  }

  private boolean exists(Path file) {
    if (file.startsWith(hanging)) {
      hangs.countDown();
      try {
        answer.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return Files.exists(file);
  }

  private MapOutputFiles.Files find(long mapId) {
    return files.find(JobFiles.SHUFFLE, mapId);
  }

  private static <T> CompletableFuture<T> onAnotherThread(Callable<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                result.complete(work.call());
              } catch (Exception e) {
                result.completeExceptionally(e);
              }
            });
    return result;
  }

  @Test
  void aDiskThatHangsKeepsOneThreadAndNoOtherMapOutput() throws Exception {
    CompletableFuture<MapOutputFiles.Files> stuck = onAnotherThread(() -> find(ON_HANGING));
    hangs.await();
    for (int times = 0; times < 3; times++) {
      assertThat(find(ON_GOOD)).isNotNull();
      assertThat(find(ON_HANGING)).as("left out").isNull();
    }
    answer.countDown();
    assertThat(stuck.get(20, TimeUnit.SECONDS)).isNotNull();
    assertThat(find(ON_HANGING)).isNotNull();
  }

  /** This thread reads the index, and gets no answer until it closes it. */
  @Test
  void aDiskThatHangsWhileAnIndexIsReadKeepsOneThreadAndNoOtherMapOutput() throws Exception {
    answer.countDown();
    MapOutputFiles.Files found = find(ON_HANGING);
    try (FileGuard.Guarded _ = found.guard().open(found.index())) {
      for (int times = 0; times < 3; times++) {
        assertThat(get(() -> find(ON_GOOD))).isNotNull();
        assertThat(get(() -> find(ON_HANGING))).as("left out").isNull();
        assertThat(onAnotherThread(() -> found.guard().open(found.index())))
            .failsWithin(20, TimeUnit.SECONDS)
            .withThrowableThat()
            .withMessageContaining("its disk does not answer");
      }
    }
    assertThat(get(() -> find(ON_HANGING))).isNotNull();
    MapOutputIndex.read(found);
  }

  /** A user may have several names. Here the job has its number. */
  @Test
  void anOwnerIsKnownByItsUid() throws Exception {
    String user = Integer.toString(NodeSocket.uid(NodeSocket.self()));
    JobFixture job = new JobFixture("application_1700000000000_0002", user, List.of(good));
    job.write(good, good, 3, 0, 10);
    JobFiles own = new JobFiles(job.name(), new MapReduceJob(user, true), List.of(good));
    MapOutputIndex.read(own.find(JobFiles.SHUFFLE, mapId(3, 0)));
  }

  private static <T> T get(Callable<T> work) throws Exception {
    return onAnotherThread(work).get(20, TimeUnit.SECONDS);
  }

  /** An administrator has moved the users' folders to another disk. */
  @Test
  void aLinkAboveTheFolderOfTheUserIsFollowed() throws Exception {
    answer.countDown();
    moveAndLink(hanging.resolve("usercache"));
    MapOutputFiles.Files found = find(ON_HANGING);
    MapOutputIndex.read(found);
    try (FileGuard.Guarded data = found.guard().open(found.data())) {
      assertThat(data).isNotNull();
    }
  }

  @Test
  void aLinkInTheFolderOfTheUserIsRefused() throws Exception {
    answer.countDown();
    moveAndLink(hanging.resolve("usercache/alice/appcache"));
    MapOutputFiles.Files found = find(ON_HANGING);
    assertThatThrownBy(() -> found.guard().open(found.data()))
        .isInstanceOf(InconsistentFilesException.class)
        .hasMessageContaining("a link leads");
  }

  private void moveAndLink(Path folder) throws Exception {
    Path moved = Files.move(folder, directory.resolve("moved"));
    Files.createSymbolicLink(folder, moved);
  }
}
