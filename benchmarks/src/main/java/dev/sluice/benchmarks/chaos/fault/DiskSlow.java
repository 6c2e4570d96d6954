package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * The disk answers nothing for three seconds: a file system in user space (bindfs) whose process is
 * stopped.
 */
final class DiskSlow extends OwnDisk {
  DiskSlow() {
    super("disk-slow", "the local directories' disk answers after 3 s", 0);
  }

  @Override
  public int delayMs(Random random) {
    return random.nextInt(600); // also when map tasks have ended
  }

  @Override
  public long lastsMs() {
    return 3_000;
  }

  @Override
  public String unavailable(String provider) {
    if (!Files.exists(Path.of("/dev/fuse"))) {
      return "there is no /dev/fuse";
    }
    return Files.isExecutable(Path.of("/usr/bin/bindfs"))
        ? super.unavailable(provider)
        : "it needs bindfs (apt-get)";
  }

  @Override
  void mount(Path directory, Path disk) throws IOException {
    Path kept = Files.createDirectories(directory.resolve("kept"));
    Commands.run(List.of("bindfs", kept.toString(), disk.toString()));
  }

  @Override
  public void strike(Cluster cluster, Random random) throws IOException {
    signal("STOP", disk(cluster));
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    signal("CONT", disk(cluster));
  }

  private static void signal(String name, Path disk) throws IOException {
    Commands.run(List.of("pkill", "-" + name, "-f", "^bindfs .*" + disk));
  }

  @Override
  public void end(Path directory) throws IOException {
    signal("CONT", directory.resolve("disk"));
    super.end(directory);
  }
}
