// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.testkit.Commands;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Faults of the machine below the executors: of the cable between two devices, and of the local
 * directories' disk. {@link Faults} creates them.
 */
final class MachineFaults {
  private MachineFaults() {}

  /**
   * Disturbs the cable between the two devices of the test bed's guest. {@link Faults} creates one
   * for each kind of damage. The driver's main thread strikes and heals. The command mends the
   * cable again when the driver has ended, or in a shutdown hook: a damaged cable outlives both
   * processes.
   *
   * @param damage arguments of the test bed's command {@code cable}
   */
  record Cable(List<String> damage) implements FaultAction, Fault.Setup {
    @Override
    public @Nullable String unavailable(String provider) {
      return !provider.equals("verbs")
              || System.getenv().getOrDefault("SLUICE_TESTBED", "native").equals("native")
          ? "it needs --provider verbs in a guest of bin/with-verbs, which has two connected devices"
          : null;
    }

    @Override
    public Map<String, String> settings(Path directory) {
      return Map.of();
    }

    @Override
    public void strike(Cluster cluster, Random random) throws IOException {
      run(damage);
    }

    @Override
    public void heal(Cluster cluster) throws IOException {
      run(List.of("mend"));
    }

    @Override
    public void end(Path directory) throws IOException {
      run(List.of("mend"));
    }

    private static void run(List<String> arguments) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getenv("SLUICE_HOME"), "testbed/guest/cable").toString());
      command.addAll(arguments);
      Commands.run(command);
    }
  }

  /**
   * Faults of the local directories' disk, for which the cluster gets a file system of its own. The
   * command mounts it before the driver starts and unmounts it at the end; the driver strikes. Each
   * of the two processes has an object of its own. Mounting comes last in {@link #settings}: if
   * that fails, {@link #end} is not called.
   */
  abstract static class OwnDisk implements FaultAction, Fault.Setup {
    @Override
    public @Nullable String unavailable(String provider) {
      return Commands.isRoot() ? null : "mounting a file system needs root";
    }

    /**
     * @param directory directory of this cluster
     * @param disk mount point
     */
    abstract void mount(Path directory, Path disk) throws IOException;

    @Override
    public final Map<String, String> settings(Path directory) throws IOException {
      Path disk = Files.createDirectories(directory.resolve("disk"));
      mount(directory, disk);
      return Map.of("spark.local.dir", disk.toString());
    }

    static Path disk(Cluster cluster) {
      return Path.of(cluster.setting("spark.local.dir"));
    }

    @Override
    public void end(Path directory) throws IOException {
      Commands.run(List.of("umount", "--lazy", directory.resolve("disk").toString()));
    }
  }

  /** Fills the disk. */
  static final class FullDisk extends OwnDisk {
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
        // The disk is full.
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

  /** Stops the disk's answers: a file system in user space (bindfs) whose process is stopped. */
  static final class SilentDisk extends OwnDisk {
    @Override
    public @Nullable String unavailable(String provider) {
      if (!Files.exists(Path.of("/dev/fuse"))) {
        return "there is no /dev/fuse";
      }
      return Files.isExecutable(Path.of("/usr/bin/bindfs"))
          ? super.unavailable(provider)
          : "it needs bindfs (apt-get install bindfs)";
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
      try {
        signal("CONT", directory.resolve("disk"));
      } finally {
        super.end(directory); // also if its process has ended
      }
    }
  }
}
