// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.registry.IndexFormat;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.node.JobFile.MapReduceJob;
import dev.sluice.rdma.file.FileFd;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Map outputs of a MapReduce job in YARN's local directories. Hadoop chooses a directory for each
 * data file and for each index. The registry's and the stager's threads call it, and wait for
 * disks. It holds nothing.
 *
 * <p>The job's user may replace these files and folders at any time, by links to files that only
 * the daemon may read. Each file is therefore checked after it was opened, and read by its
 * descriptor: no link leads to it, and it belongs to the user where Hadoop asks for that, too.
 */
final class JobFiles implements MapOutputFiles {
  /** The one shuffle of a job. */
  static final int SHUFFLE = 0;

  private static final String DATA = "file.out";
  private static final String INDEX = "file.out.index";

  private final String name;
  private final MapReduceJob job;
  private final List<Path> directories;
  private final FileGuard guard = this::open;

  /**
   * @param name the job's name at the daemon
   * @param directories YARN's local directories
   */
  JobFiles(String name, MapReduceJob job, List<Path> directories) {
    this.name = name;
    this.job = job;
    this.directories = directories;
  }

  @Override
  public MapOutputFiles.@Nullable Files find(int shuffleId, long mapId) {
    List<Path> folders = paths(shuffleId, mapId);
    Path data = find(folders, DATA);
    Path index = find(folders, INDEX);
    return data == null || index == null
        ? null
        : new MapOutputFiles.Files(
            data, index, null, ChecksumAlgorithm.NONE, IndexFormat.MAPREDUCE, guard);
  }

  private static @Nullable Path find(List<Path> folders, String file) {
    return folders.stream()
        .map(folder -> folder.resolve(file))
        .filter(java.nio.file.Files::exists)
        .findFirst()
        .orElse(null);
  }

  @Override
  public List<Path> paths(int shuffleId, long mapId) {
    return shuffleId == SHUFFLE && mapId >= 0
        ? directories.stream().map(directory -> folder(directory, mapId)).toList()
        : List.of();
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
    FileFd file = FileFd.tryOpenUntrusted(path);
    if (file == null) {
      throw java.nio.file.Files.exists(path)
          ? new IOException(path + " cannot be opened")
          : new NoSuchFileException(path.toString());
    }
    boolean checked = false;
    try {
      check(path, file.link());
      checked = true;
      return new FileGuard.Guarded(file.link(), file);
    } finally {
      if (!checked) {
        file.close();
      }
    }
  }

  private void check(Path path, Path opened) throws IOException {
    Path directory = directories.stream().filter(path::startsWith).findFirst().orElseThrow();
    Path expected = directory.toRealPath().resolve(directory.relativize(path));
    Path real = java.nio.file.Files.readSymbolicLink(opened);
    if (!real.equals(expected)) {
      throw new InconsistentFilesException("a link leads from %s to %s".formatted(path, real));
    }
    PosixFileAttributes attributes =
        java.nio.file.Files.readAttributes(opened, PosixFileAttributes.class);
    if (!attributes.isRegularFile()) {
      throw new InconsistentFilesException(path + " is not a regular file");
    }
    if (job.checkOwner() && !attributes.owner().getName().equals(job.user())) {
      throw new InconsistentFilesException(
          "%s belongs to %s and not to %s".formatted(path, attributes.owner(), job.user()));
    }
  }
}
