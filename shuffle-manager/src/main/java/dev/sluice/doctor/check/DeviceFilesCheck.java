package dev.sluice.doctor.check;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.partitioningBy;

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
import java.util.Map;
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
    Map<Boolean, List<Path>> files =
        devices().stream().map(this::file).collect(partitioningBy(Files::exists));
    List<Finding> findings = new ArrayList<>(files.get(true).stream().map(this::tried).toList());
    if (findings.isEmpty()) {
      findings.addAll(files.get(false).stream().map(this::tried).toList());
    } else if (!files.get(false).isEmpty()) {
      findings.add(ofOthers(files.get(false)));
    }
    if (usesRdmaCm) {
      findings.add(tried(file("rdma_cm")));
    }
    return findings;
  }

  private List<String> devices() throws IOException {
    Path devices = root.resolve("sys/class/infiniband_verbs");
    if (!Files.isDirectory(devices)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(devices)) {
      return entries
          .filter(entry -> Files.exists(entry.resolve("ibdev")))
          .map(entry -> entry.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  private Path file(String name) {
    return root.resolve("dev/infiniband").resolve(name);
  }

  /** A container sees all devices of its host, and is given the files of its own ones. */
  private Finding ofOthers(List<Path> missing) {
    return Finding.ok(
        name(),
        missing.stream().map(file -> file.getFileName().toString()).collect(joining(", "))
            + " not there: not this container's");
  }

  private Finding tried(Path file) {
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
