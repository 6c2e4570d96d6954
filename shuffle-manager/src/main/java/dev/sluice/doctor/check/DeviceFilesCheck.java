package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The device files of verbs, by opening them: permissions do not tell what a container's device
 * cgroup forbids.
 *
 * @param usesRdmaCm whether queue pairs are connected by rdma_cm
 */
record DeviceFilesCheck(Path root, boolean usesRdmaCm) implements Check {
  private static final String CONTAINER =
      "--device=/dev/infiniband of the container, or the device plugin on Kubernetes";

  @Override
  public String name() {
    return "device files";
  }

  @Override
  public List<Finding> findings() throws IOException {
    List<Finding> findings = new ArrayList<>();
    Path devices = root.resolve("sys/class/infiniband_verbs");
    if (Files.isDirectory(devices)) {
      try (Stream<Path> entries = Files.list(devices)) {
        entries
            .filter(entry -> Files.exists(entry.resolve("ibdev")))
            .map(entry -> entry.getFileName().toString())
            .sorted()
            .forEach(name -> findings.add(tried(name)));
      }
    }
    if (usesRdmaCm) {
      findings.add(tried("rdma_cm"));
    }
    return findings;
  }

  private Finding tried(String name) {
    Path file = root.resolve("dev/infiniband").resolve(name);
    try (FileChannel _ =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return Finding.ok(name(), file + " can be read and written");
    } catch (NoSuchFileException e) {
      return Finding.fail(name(), file + " is not there", CONTAINER);
    } catch (IOException e) {
      return Finding.fail(
          name(),
          "%s cannot be opened (%s): %s".formatted(file, permissions(file), e.getMessage()),
          "0666 by rdma-core's udev rules, or the group of who runs executors; " + CONTAINER);
    }
  }

  private static String permissions(Path file) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(file))
          + " of "
          + Files.getOwner(file);
    } catch (IOException e) {
      return "permissions unknown";
    }
  }
}
