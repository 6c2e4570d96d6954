package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.chaos.Cluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The local directories' disk answers nothing for three seconds: a file system in user space
 * (bindfs) whose process is stopped.
 */
final class DiskSlow extends SharedFault {
  DiskSlow() {
    super("disk-slow", "the local directories' disk answers after 3 s", Moment.MAP, 0);
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
    if (!Commands.isRoot() || !Files.exists(Path.of("/dev/fuse"))) {
      return "only root may mount a file system of its own, and /dev/fuse has to be there";
    }
    return Files.isExecutable(Path.of("/usr/bin/bindfs")) ? null : "it needs bindfs (apt-get)";
  }

  @Override
  public String cluster() {
    return name();
  }

  @Override
  public Map<String, String> settings(Path directory) throws IOException {
    Path kept = Files.createDirectories(directory.resolve("kept"));
    Path disk = Files.createDirectories(disk(directory));
    Commands.run(List.of("bindfs", kept.toString(), disk.toString()));
    return Map.of("spark.local.dir", disk.toString());
  }

  @Override
  public void strike(Cluster cluster, Random random) throws IOException {
    signal(Path.of(cluster.setting("spark.local.dir")), "STOP");
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    signal(Path.of(cluster.setting("spark.local.dir")), "CONT");
  }

  private static void signal(Path disk, String signal) throws IOException {
    Commands.run(List.of("pkill", "-" + signal, "-f", "^bindfs .*" + disk));
  }

  @Override
  public void end(Path directory) throws IOException {
    signal(disk(directory), "CONT");
    Commands.run(List.of("umount", "--lazy", disk(directory).toString()));
  }

  private static Path disk(Path directory) {
    return directory.resolve("slow-disk");
  }
}
