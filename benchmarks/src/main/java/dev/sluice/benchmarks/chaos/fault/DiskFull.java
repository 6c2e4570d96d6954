package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.chaos.Cluster;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The local directories' file system has no room for two seconds while map tasks write. */
final class DiskFull extends SharedFault {
  DiskFull() {
    super("disk-full", "the local directories' disk is full for 2 s", Moment.MAP, 4);
  }

  @Override
  public int delayMs(Random random) {
    return random.nextInt(150);
  }

  @Override
  public long lastsMs() {
    return 2_000;
  }

  @Override
  public String unavailable(String provider) {
    return Commands.isRoot() ? null : "only root may mount a file system of its own";
  }

  @Override
  public String cluster() {
    return name();
  }

  @Override
  public Map<String, String> settings(Path directory) throws IOException {
    Path disk = Files.createDirectories(disk(directory));
    Commands.run(List.of("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", disk.toString()));
    return Map.of("spark.local.dir", disk.toString(), "spark.task.maxFailures", "2000");
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    try (OutputStream out = Files.newOutputStream(filler(cluster))) {
      byte[] zeros = new byte[1 << 20];
      while (true) {
        out.write(zeros);
      }
    } catch (IOException e) {
      // Full.
    }
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    Files.deleteIfExists(filler(cluster));
  }

  private static Path filler(Cluster cluster) {
    return Path.of(cluster.setting("spark.local.dir")).resolve("filler");
  }

  @Override
  public void end(Path directory) throws IOException {
    Commands.run(List.of("umount", "--lazy", disk(directory).toString()));
  }

  private static Path disk(Path directory) {
    return directory.resolve("small-disk");
  }
}
