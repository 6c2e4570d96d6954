// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.node.JobFile.MapReduceJob;
import dev.sluice.node.NodeDisks.RefusedException;
import dev.sluice.node.StateFile.ApplicationState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the MapReduce jobs that YARN has told a node of, and those that have ended, by their
 * folders. No state of its own; any thread. Callers wait for disks.
 *
 * @param folders has the jobs' folders
 */
record NodeJobs(NodeFolders folders) {
  private static final Logger LOG = LoggerFactory.getLogger(NodeJobs.class);

  /**
   * Returns the state of a job from its file.
   *
   * @throws IOException if the node does not have the job, or it has ended, with the reason
   */
  ApplicationState find(String name) throws IOException {
    if (!JobFile.isName(name)) {
      throw new IOException(name + " is not the name of a MapReduce job");
    }
    return folders.disks().onEach("looking for " + name, root -> find(root.resolve(name))).stream()
        .flatMap(Optional::stream)
        .findFirst()
        .orElseThrow(() -> new IOException("YARN has not told this node of " + name));
  }

  private static Optional<ApplicationState> find(Path folder) throws IOException {
    if (NodeFolders.isEnded(folder)) {
      throw new RefusedException(folder.getFileName() + " has ended");
    }
    return Optional.ofNullable(JobFile.read(folder));
  }

  /** Returns true if YARN still has files of a job, which is therefore not over. */
  boolean hasFiles(ApplicationState state) {
    return folders.disks().answering().stream().anyMatch(root -> hasFiles(root, state));
  }

  private static boolean hasFiles(Path root, ApplicationState state) {
    MapReduceJob job = state.job();
    Path directory = requireNonNull(root.getParent());
    return job != null && Files.exists(job.folder(directory, state.name()));
  }

  /**
   * Deletes a root's folders of jobs that are over and were never served. Waits for it.
   *
   * @param isServed returns true for names of applications that are removed otherwise
   * @param age age of a folder whose job is over if YARN has no files of it
   */
  void deleteEnded(Path root, Predicate<String> isServed, Duration age) throws IOException {
    for (Path folder : NodeFolders.folders(root)) {
      try {
        if (JobFile.isIn(folder)
            && !isServed.test(folder.getFileName().toString())
            && isOver(root, folder, age)) {
          folders.delete(folders.putAway(root, folder));
        }
      } catch (IOException | RuntimeException e) { // The other folders are looked at as well.
        LOG.warn("Cannot tell whether the MapReduce job of {} is over; trying again", folder, e);
      }
    }
  }

  private static boolean isOver(Path root, Path folder, Duration age) throws IOException {
    ApplicationState job = JobFile.read(folder);
    Instant written = Files.getLastModifiedTime(folder).toInstant();
    return NodeFolders.isEnded(folder)
        || written.isBefore(Instant.now().minus(age)) && (job == null || !hasFiles(root, job));
  }
}
