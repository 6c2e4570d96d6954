// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.yarn.DirectoryThreads;
import dev.sluice.yarn.JobFolders;
import java.io.IOException;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Folders by which the daemon learns of MapReduce jobs. */
final class JobFoldersTest {
  private static final ApplicationId APPLICATION = ApplicationId.newInstance(1_700_000_000_000L, 1);
  private static final String NAME = "application_1700000000000_0001-mapreduce";
  private static final byte[] SECRET = "of the shuffle".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path directory;
  private Path disk1;
  private Path disk2;
  private DirectoryThreads threads;
  private JobFolders folders;

  @BeforeEach
  void makeRoots() throws Exception {
    disk1 = directory.resolve("1");
    disk2 = directory.resolve("2");
    Files.createDirectories(disk1.resolve(".sluice"));
    Files.createDirectories(disk2.resolve(".sluice"));
    threads = threads(disk1, disk2, directory.resolve("missing"));
    folders = new JobFolders(threads);
  }

  @AfterEach
  void close() {
    threads.close();
  }

  private static DirectoryThreads threads(Path... directories) {
    return new DirectoryThreads(List.of(directories), Duration.ofSeconds(20));
  }

  /** Writes the job, and waits for all directories. */
  private void writeAll(byte[] secret) throws IOException {
    folders.write(APPLICATION, "alice", token(secret));
    awaitAll();
  }

  /** Waits for the work of each directory, as their threads do it in its order. */
  private void awaitAll() {
    threads.onEach("waiting", directory -> directory.equals(disk1));
    threads.onEach("waiting", directory -> directory.equals(disk2));
  }

  private static Path file(Path disk) {
    return disk.resolve(".sluice/" + NAME + "/job");
  }

  /** Service data as Hadoop's ShuffleHandler.serializeServiceData makes it. */
  static ByteBuffer token(byte[] password) throws IOException {
    JobTokenIdentifier identifier = new JobTokenIdentifier(new Text("job_1700000000000_0001"));
    Token<JobTokenIdentifier> token =
        new Token<>(identifier.getBytes(), password, identifier.getKind(), new Text("job_1_0001"));
    DataOutputBuffer bytes = new DataOutputBuffer();
    token.write(bytes);
    return ByteBuffer.wrap(bytes.getData(), 0, bytes.getLength());
  }

  private static Properties read(Path disk) throws IOException {
    Properties job = new Properties();
    try (Reader file = Files.newBufferedReader(file(disk))) {
      job.load(file);
    }
    return job;
  }

  @Test
  void theSecretAndTheUserAreInEachDirectory() throws Exception {
    ByteBuffer token = token(SECRET);
    folders.write(APPLICATION, "alice", token);
    awaitAll();
    assertThat(token.remaining()).as("Hadoop's own service reads it, too").isPositive();
    for (Path disk : List.of(disk1, disk2)) {
      assertThat(read(disk))
          .containsEntry("secret", Base64.getEncoder().encodeToString(SECRET))
          .containsEntry("user", "alice")
          .containsEntry("checkOwner", "false");
      Path folder = disk.resolve(".sluice/" + NAME);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
          .isEqualTo("rwx------");
      assertThat(
              PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("job"))))
          .isEqualTo("rw-------");
      assertThat(disk.resolve(".sluice")).isDirectoryNotContaining("glob:**/.job*");
    }
  }

  /** The daemon has put its state there. */
  @Test
  void aRestartedNodeManagerReplacesTheFileAlone() throws Exception {
    writeAll(SECRET);
    Path state = disk1.resolve(".sluice/" + NAME + "/.application");
    Files.createFile(state);
    try (DirectoryThreads restarted = threads(disk1)) {
      new JobFolders(restarted).write(APPLICATION, "alice", token(new byte[] {1, 2, 3}));
    }
    assertThat(state).exists();
    assertThat(read(disk1)).containsEntry("secret", "AQID");
    assertThat(state.getParent()).isDirectoryNotContaining("glob:**/.job*");
  }

  private static Object inode(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  @Test
  void itIsWrittenOnceHoweverManyContainersBringTheToken() throws Exception {
    writeAll(SECRET);
    Object first = inode(file(disk1));
    writeAll(SECRET);
    assertThat(inode(file(disk1))).isEqualTo(first);
  }

  @Test
  void theNextContainerWritesWhatADirectoryLacks() throws Exception {
    Files.delete(disk2.resolve(".sluice"));
    writeAll(SECRET);
    Files.delete(file(disk1));
    Files.createDirectory(disk2.resolve(".sluice"));
    writeAll(SECRET);
    assertThat(read(disk1)).containsEntry("user", "alice");
    assertThat(read(disk2)).containsEntry("user", "alice");
  }

  @Test
  void anotherSecretReplacesTheFirst() throws Exception {
    writeAll(SECRET);
    writeAll(new byte[] {1, 2, 3});
    assertThat(read(disk1)).containsEntry("secret", "AQID");
    assertThat(read(disk2)).containsEntry("secret", "AQID");
  }

  private static void await(CountDownLatch answer) throws IOException {
    try {
      answer.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  @Timeout(60)
  void aDiskThatHangsDelaysNoContainer() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    threads.onEach(
        "a test",
        directory -> {
          if (directory.equals(disk1)) {
            await(answer);
          }
          return directory.equals(disk2);
        });
    folders.write(APPLICATION, "alice", token(SECRET));
    assertThat(read(disk2)).containsEntry("user", "alice");
    assertThat(file(disk1)).doesNotExist();
    answer.countDown();
    awaitAll();
    assertThat(read(disk1)).containsEntry("user", "alice");
  }

  /** The daemon makes the roots when it starts. */
  @Test
  void aJobThatCameBeforeTheDaemonIsWrittenByTheNextContainer() throws Exception {
    Files.delete(disk1.resolve(".sluice"));
    Files.delete(disk2.resolve(".sluice"));
    folders.write(APPLICATION, "alice", token(SECRET));
    assertThat(disk1.resolve(".sluice")).doesNotExist();
    Files.createDirectory(disk2.resolve(".sluice"));
    folders.write(APPLICATION, "alice", token(SECRET));
    assertThat(read(disk2)).containsEntry("user", "alice");
  }

  /** Its file may be written late, when the other service has marked the folders that are there. */
  @Test
  void aJobThatEndsIsMarkedWhereverItsFileIsWritten() throws Exception {
    folders.write(APPLICATION, "alice", token(SECRET)); // It waits for one of the disks.
    folders.ended(APPLICATION);
    awaitAll();
    assertThat(List.of(disk1, disk2))
        .map(disk -> disk.resolve(".sluice/" + NAME))
        .anyMatch(Files::exists)
        .filteredOn(Files::exists)
        .allMatch(folder -> Files.exists(folder.resolve(".ended")));
  }

  @Test
  void withoutAValidTokenNoContainerFails() throws Exception {
    folders.write(APPLICATION, "alice", null);
    folders.write(APPLICATION, "alice", ByteBuffer.allocate(0));
    folders.write(APPLICATION, "alice", ByteBuffer.wrap(new byte[] {127, 1}));
    awaitAll();
    assertThat(disk1.resolve(".sluice")).isEmptyDirectory();
  }
}
