package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Something about the local directories' disk, which is a file system of the cluster's own. */
abstract class OwnDisk extends SharedFault {
  OwnDisk(String name, String what, int stageRetries) {
    super(name, what, Moment.MAP, stageRetries);
  }

  @Override
  public String unavailable(String provider) {
    return Commands.isRoot() ? null : "only root may mount a file system of its own";
  }

  @Override
  public final String cluster() {
    return name();
  }

  /**
   * @param directory of this cluster alone
   * @param disk where to mount it
   */
  abstract void mount(Path directory, Path disk) throws IOException;

  @Override
  public final Map<String, String> settings(Path directory) throws IOException {
    Path disk = Files.createDirectories(directory.resolve("disk"));
    mount(directory, disk);
    // What fails is to be tried until there is a disk again.
    return Map.of("spark.local.dir", disk.toString(), "spark.task.maxFailures", "2000");
  }

  static Path disk(Cluster cluster) {
    return Path.of(cluster.setting("spark.local.dir"));
  }

  @Override
  public void end(Path directory) throws IOException {
    Commands.run(List.of("umount", "--lazy", directory.resolve("disk").toString()));
  }
}
