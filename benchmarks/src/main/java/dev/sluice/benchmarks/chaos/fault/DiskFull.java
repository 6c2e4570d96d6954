package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** The disk has no room for two seconds while map tasks write. */
final class DiskFull extends OwnDisk {
  DiskFull() {
    super("disk-full", "the local directories' disk is full for 2 s", 4);
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
  void mount(Path directory, Path disk) throws IOException {
    Commands.run(List.of("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", disk.toString()));
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
    return disk(cluster).resolve("filler");
  }
}
