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
 * writes them on the directories' threads. A failure is logged, and never fails a container:
 * readers then use Hadoop's own shuffle. The daemon has the same names; this module does not depend
 * on it.
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

  /** Applications whose folders this NodeManager has written: each container brings the token. */
  private final Set<ApplicationId> written = ConcurrentHashMap.newKeySet();

  /**
   * @param threads of the NodeManager's local directories
   */
  public JobFolders(DirectoryThreads threads) {
    this.threads = threads;
  }

  /**
   * Writes the job's folders, once if that succeeds in one directory. Waits for that.
   *
   * @param user owner of the job's containers
   * @param token a token as Hadoop's shuffle gets it as service data, whose password is the secret;
   *     null if there is none
   */
  public void write(ApplicationId application, String user, @Nullable ByteBuffer token) {
    if (token == null || !token.hasRemaining() || written.contains(application)) {
      return;
    }
    try {
      Properties content = new Properties();
      content.setProperty("secret", Base64.getEncoder().encodeToString(password(token)));
      content.setProperty("user", user);
      content.setProperty("checkOwner", Boolean.toString(UserGroupInformation.isSecurityEnabled()));
      String name = application + SUFFIX;
      boolean told =
          threads.onEach(
              "telling the node daemon of " + application,
              directory -> write(directory, name, content));
      if (told) {
        written.add(application);
      } else {
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

  /** Returns true if the folder was written. */
  private static boolean write(Path directory, String name, Properties content) throws IOException {
    Path root = directory.resolve(SluiceNodeService.FOLDER);
    boolean isUsed = Files.isWritable(root);
    if (isUsed) {
      writeFolder(root, name, content);
    }
    return isUsed;
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

  /** Forgets an application that has ended. {@link SluiceNodeService} marks its folders. */
  void ended(ApplicationId application) {
    written.remove(application);
  }
}
