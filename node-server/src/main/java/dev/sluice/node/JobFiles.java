// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.handover.NodeSocket;
import dev.sluice.blocks.registry.IndexFormat;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.node.JobFile.MapReduceJob;
import dev.sluice.rdma.file.FileFd;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Map outputs of a MapReduce job in YARN's local directories. Hadoop chooses a directory for each
 * data file and for each index. The registry's and the stager's threads call it, and wait for
 * disks. A directory that does not answer is left out ({@link JobDirectory}): a thread keeps its
 * turn until it has closed the file that it opened there.
 *
 * <p>The job's user may replace these files and folders at any time, by links to files that only
 * the daemon may read. Each file is therefore checked after it was opened, and read by its
 * descriptor: no link of the user leads to it, and it belongs to the user where Hadoop asks for
 * that, too. The folder of the user, or one above, may be an administrator's link.
 */
final class JobFiles implements MapOutputFiles {
  /** The one shuffle of a job. */
  static final int SHUFFLE = 0;

  /** One may wait for a disk that hangs. */
  private static final int TOGETHER = 4;

  private static final String DATA = "file.out";
  private static final String INDEX = "file.out.index";

  private final String name;
  private final MapReduceJob job;
  private final List<JobDirectory> directories;
  private final Predicate<Path> exists;
  private final FileGuard guard = this::open;

  /**
   * Uid of the job's user, which may have several names; null until the first look-up succeeds. A
   * name service may be away for a time.
   */
  private volatile @Nullable Integer uid;

  /**
   * @param name the job's name at the daemon
   * @param directories YARN's local directories, also those that do not answer
   */
  JobFiles(String name, MapReduceJob job, List<Path> directories) {
    this(name, job, directories, path -> java.nio.file.Files.exists(path));
  }

  /**
   * @param exists returns true if there is a file; waits for its disk
   */
  JobFiles(String name, MapReduceJob job, List<Path> directories, Predicate<Path> exists) {
    this.name = name;
    this.job = job;
    this.directories = directories.stream().map(JobDirectory::new).toList();
    this.exists = exists;
  }

  @Override
  public MapOutputFiles.@Nullable Files find(int shuffleId, long mapId) {
    if (!isId(shuffleId, mapId)) {
      return null;
    }
    Path data = find(mapId, DATA);
    Path index = find(mapId, INDEX);
    return data == null || index == null
        ? null
        : new MapOutputFiles.Files(
            data, index, null, ChecksumAlgorithm.NONE, IndexFormat.MAPREDUCE, guard);
  }

  private static boolean isId(int shuffleId, long mapId) {
    return shuffleId == SHUFFLE && mapId >= 0;
  }

  private @Nullable Path find(long mapId, String file) {
    for (JobDirectory directory : directories) {
      Path path = folder(directory.path(), mapId).resolve(file);
      try (JobDirectory.Turn turn = directory.await()) {
        if (turn != null && exists.test(path)) {
          return path;
        }
      }
    }
    return null;
  }

  @Override
  public List<Path> paths(int shuffleId, long mapId) {
    return isId(shuffleId, mapId)
        ? directories.stream().map(directory -> folder(directory.path(), mapId)).toList()
        : List.of();
  }

  @Override
  public int together() {
    return TOGETHER;
  }

  /** A map id has the task's number in its upper half, and the attempt's in its lower one. */
  private Path folder(Path directory, long mapId) {
    Path folder = job.folder(directory, name);
    String id = folder.getFileName().toString().replace("application", "attempt");
    return folder
        .resolve("output")
        .resolve(
            String.format(Locale.ROOT, "%s_m_%06d_%d", id, mapId >>> Integer.SIZE, (int) mapId));
  }

  private FileGuard.Guarded open(Path path) throws IOException {
    JobDirectory directory =
        directories.stream().filter(each -> path.startsWith(each.path())).findFirst().orElseThrow();
    JobDirectory.Turn turn = directory.await();
    if (turn == null) {
      throw new IOException(path + " is not opened: its disk does not answer");
    }
    boolean opened = false;
    try {
      FileFd file = open(directory.path(), path);
      opened = true;
      return new FileGuard.Guarded(file.link(), () -> close(file, turn));
    } finally {
      if (!opened) {
        turn.close();
      }
    }
  }

  private static void close(FileFd file, JobDirectory.Turn turn) throws IOException {
    try (turn) {
      file.close();
    }
  }

  private FileFd open(Path directory, Path path) throws IOException {
    FileFd file = FileFd.tryOpenUntrusted(path);
    if (file == null) {
      throw java.nio.file.Files.exists(path)
          ? new IOException(path + " cannot be opened")
          : new NoSuchFileException(path.toString());
    }
    boolean checked = false;
    try {
      check(directory, path, file.link());
      checked = true;
      return file;
    } finally {
      if (!checked) {
        file.close();
      }
    }
  }

  private void check(Path directory, Path path, Path opened) throws IOException {
    Path ofUser = job.ofUser(directory);
    Path expected = ofUser.toRealPath().resolve(ofUser.relativize(path));
    Path real = java.nio.file.Files.readSymbolicLink(opened);
    if (!real.equals(expected)) {
      throw new InconsistentFilesException("a link leads from %s to %s".formatted(path, real));
    }
    if (!java.nio.file.Files.isRegularFile(opened)) {
      throw new InconsistentFilesException(path + " is not a regular file");
    }
    if (job.checkOwner()) {
      int owner = (int) java.nio.file.Files.getAttribute(opened, "unix:uid");
      if (owner != uid()) {
        throw new InconsistentFilesException(
            "%s belongs to uid %d and not to %s, which is uid %d"
                .formatted(path, owner, job.user(), uid()));
      }
    }
  }

  private int uid() throws IOException {
    Integer known = uid;
    if (known == null) {
      known = lookUp(job.user());
      uid = known;
    }
    return known;
  }

  private static int lookUp(String user) throws IOException {
    try {
      return NodeSocket.uid(
          FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(user));
    } catch (UserPrincipalNotFoundException e) {
      throw new IOException("cannot find the uid of user " + user, e);
    }
  }
}
