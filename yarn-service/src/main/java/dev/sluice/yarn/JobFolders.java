// SPDX-License-Identifier: Apache-2.0
package dev.sluice.yarn;

import java.io.IOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.io.DataInputByteBuffer;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folders by which the node daemon learns of MapReduce jobs: one for each job in {@code .sluice} of
 * each local directory, with a file that has the job's secret and user. {@link JobShuffleHandler}
 * has each container write missing files. A failure is logged, and never fails a container: readers
 * then use Hadoop's own shuffle. The daemon has the same names; this module does not depend on it.
 * A job that the daemon serves already keeps the secret with which it was opened. Hadoop's job
 * client makes the secret, and all attempts of the ApplicationMaster pass on the same one.
 */
public final class JobFolders {
  private static final Logger LOG = LoggerFactory.getLogger(JobFolders.class);

  private static final String SUFFIX = "-mapreduce";
  private static final String FILE = "job";
  private static final FileAttribute<Set<PosixFilePermission>> FOLDER_OF_OWNER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<Set<PosixFilePermission>> FILE_OF_OWNER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final DirectoryThreads threads;

  /** Jobs of this NodeManager, by their applications. */
  private final Map<ApplicationId, Job> jobs = new ConcurrentHashMap<>();

  /** Content of a job's file, and the local directories that have it. */
  private static final class Job {
    private final Properties content;
    private final Set<Path> written = ConcurrentHashMap.newKeySet();

    Job(Properties content) {
      this.content = content;
    }
  }

  /**
   * @param threads of the NodeManager's local directories
   */
  public JobFolders(DirectoryThreads threads) {
    this.threads = threads;
  }

  /**
   * Writes the job's file in each directory that lacks it or has another secret. Waits for one
   * directory.
   *
   * @param user owner of the job's containers
   * @param token a token as Hadoop's shuffle gets it as service data, whose password is the secret;
   *     null if there is none
   */
  public void write(ApplicationId application, String user, @Nullable ByteBuffer token) {
    if (token == null || !token.hasRemaining()) {
      return;
    }
    try {
      Properties content = new Properties();
      content.setProperty("secret", Base64.getEncoder().encodeToString(password(token)));
      content.setProperty("user", user);
      content.setProperty("checkOwner", Boolean.toString(UserGroupInformation.isSecurityEnabled()));
      Job job =
          jobs.compute(
              application,
              (id, known) ->
                  known != null && known.content.equals(content) ? known : new Job(content));
      boolean told =
          threads.onEach(
              "telling the node daemon of " + application,
              directory -> write(directory, application, job));
      if (!told) {
        LOG.warn(
            "The node daemon is not told of {}: no local directory that answers has a writable {},"
                + " which the daemon makes when it starts. The next container tries again",
            application,
            SluiceNodeService.FOLDER);
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "The node daemon is not told of {}: its map outputs go by Hadoop's own shuffle",
          application,
          e);
    }
  }

  private static byte[] password(ByteBuffer token) throws IOException {
    DataInputByteBuffer in = new DataInputByteBuffer();
    in.reset(token.duplicate());
    Token<TokenIdentifier> read = new Token<>();
    read.readFields(in);
    return read.getPassword();
  }

  /** Returns true if the directory has the job's file. */
  private boolean write(Path directory, ApplicationId application, Job job) throws IOException {
    Path root = directory.resolve(SluiceNodeService.FOLDER);
    if (!Files.isWritable(root) || jobs.get(application) != job) { // It may have ended meanwhile.
      return false;
    }
    String name = application + SUFFIX;
    if (!job.written.contains(directory) || !Files.exists(root.resolve(name).resolve(FILE))) {
      writeFolder(root, name, job.content);
      job.written.add(directory);
    }
    return true;
  }

  /** Makes the folder as a whole, or replaces the file of one that is there. */
  private static void writeFolder(Path root, String name, Properties content) throws IOException {
    Path folder = root.resolve(name);
    if (Files.isDirectory(folder)) {
      Path file = writeFile(folder.resolve("." + FILE + "-" + UUID.randomUUID()), content);
      Files.move(file, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    } else {
      Path unfinished = root.resolve("." + FILE + "-" + UUID.randomUUID());
      Files.createDirectory(unfinished, FOLDER_OF_OWNER);
      try {
        writeFile(unfinished.resolve(FILE), content);
        Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) { // The file has the secret.
        Files.deleteIfExists(unfinished.resolve(FILE));
        Files.deleteIfExists(unfinished);
        throw e;
      }
    }
  }

  private static Path writeFile(Path file, Properties content) throws IOException {
    Files.createFile(file, FILE_OF_OWNER);
    try (Writer writer = Files.newBufferedWriter(file)) {
      content.store(writer, null);
    }
    return file;
  }

  /**
   * Forgets an application that has ended. Marks its folders as {@link SluiceNodeService} does, but
   * after those that are being written. Waits for one directory.
   */
  public void ended(ApplicationId application) {
    if (jobs.remove(application) != null) {
      threads.onEach(
          "marking " + application + " as ended",
          directory -> SluiceNodeService.end(directory, application.toString()));
    }
  }
}
