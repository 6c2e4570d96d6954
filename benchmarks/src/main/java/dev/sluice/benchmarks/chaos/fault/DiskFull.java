package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** The local directories' file system has no room for two seconds while map tasks write. */
final class DiskFull extends Fault {
  private static final long LASTS_MS = 2_000;

  private Path mounted;

  DiskFull() {
    super("disk-full", "the local directories' disk is full for 2 s", Moment.MAP);
  }

  @Override
  public int delayMs(Random random) {
    return random.nextInt(150);
  }

  @Override
  public int stageRetries() {
    return 4;
  }

  @Override
  public boolean happensToStock() {
    return true;
  }

  @Override
  public String unavailable() {
    return System.getProperty("user.name").equals("root")
        ? null
        : "only root may mount a file system of its own";
  }

  @Override
  public Map<String, String> settings(Path directory) throws IOException, InterruptedException {
    mounted = Files.createDirectories(directory.resolve("small-disk"));
    int status =
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", mounted.toString())
            .inheritIO()
            .start()
            .waitFor();
    if (status != 0) {
      throw new IOException("mount ended with status " + status);
    }
    return Map.of("spark.local.dir", mounted.toString(), "spark.task.maxFailures", "2000");
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    Path filler = Path.of(cluster.setting("spark.local.dir")).resolve("filler");
    try (OutputStream out = Files.newOutputStream(filler)) {
      byte[] zeros = new byte[1 << 20];
      while (true) {
        out.write(zeros);
      }
    } catch (IOException e) {
      // Full.
    }
    Thread.sleep(LASTS_MS);
    heal(cluster);
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    Files.deleteIfExists(Path.of(cluster.setting("spark.local.dir")).resolve("filler"));
  }

  @Override
  public void end() throws IOException {
    new ProcessBuilder("umount", "--lazy", mounted.toString()).inheritIO().start().onExit().join();
  }
}
