// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static java.util.function.Predicate.not;
import static java.util.stream.Collectors.joining;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
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
 * Check of the device files of verbs. It opens them, as permissions do not show the limits of a
 * container's device cgroup, and closes them at once. {@link Checks} makes it, and {@link
 * CheckRunner} asks it once, on a thread of its own.
 *
 * @param usesRdmaCm true if queue pairs are connected by rdma_cm
 * @param environment environment of this process
 */
record DeviceFilesCheck(Path root, boolean usesRdmaCm, Map<String, String> environment)
    implements Check {
  static final String NAME = "device files";

  /** Resource of the device plugin, under the name that conf/kubernetes has for it. */
  private static final String RESOURCE =
      "rdma/rdma_shared_device_a: 1 # the name in the device plugin's configuration";

  private static final String CONTAINER =
      "start the container with --device=/dev/infiniband, or use the device plugin on Kubernetes";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() throws IOException {
    List<Path> files = devices().stream().map(this::file).toList();
    List<Path> own = files.stream().filter(Files::exists).filter(not(this::isOfOthers)).toList();
    List<Path> others = files.stream().filter(not(own::contains)).toList();
    List<Finding> findings = new ArrayList<>(own.stream().map(this::tried).toList());
    if (own.isEmpty()) {
      findings.addAll(others.stream().map(this::tried).toList());
    } else if (!others.isEmpty()) {
      findings.add(ofOthers(others));
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

  /**
   * Returns true for a device of another container, or of another network namespace in RDMA's
   * exclusive mode. Opening its file fails with EPERM, whatever the permissions.
   */
  private boolean isOfOthers(Path file) {
    try (FileChannel _ = open(file)) {
      return false;
    } catch (FileSystemException e) {
      return "Operation not permitted".equals(e.getReason());
    } catch (IOException e) {
      return false;
    }
  }

  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /**
   * Makes the finding about devices of others. A container sees all devices of its host, and may
   * open the files of its own ones.
   */
  private Finding ofOthers(List<Path> others) {
    return Finding.ok(
        name(),
        others.stream().map(file -> file.getFileName().toString()).collect(joining(", "))
            + ": not of this container (missing or not permitted)");
  }

  private Finding tried(Path file) {
    return opened(file).with("file", file.toString());
  }

  private Finding opened(Path file) {
    try (FileChannel _ = open(file)) {
      return Finding.ok(name(), file + " can be read and written");
    } catch (NoSuchFileException e) {
      return mended(Finding.fail(name(), file + " does not exist", CONTAINER), "");
    } catch (IOException e) {
      return mended(
          Finding.fail(
              name(),
              "%s cannot be opened (%s): %s".formatted(file, permissions(file), e.getMessage()),
              "set mode 0666 by rdma-core's udev rules, or the group of the user that runs"
                  + " executors; "
                  + CONTAINER),
          "KERNEL==\"%s\", MODE=\"0666\""
              .formatted(file.getFileName().toString().replaceFirst("\\d+$", "[0-9]*")));
    }
  }

  /**
   * Adds the line that gives the file to a container. On a host only a rule for its permissions
   * helps.
   *
   * @param rule rule of udev; empty if it does not help
   */
  private Finding mended(Finding finding, String rule) {
    return switch (Surroundings.of(root, environment).kind()) {
      case KUBERNETES -> finding.mendedBy(FixLine.of(FixLine.Place.POD_LIMIT, RESOURCE));
      case CONTAINER ->
          finding.mendedBy(FixLine.of(FixLine.Place.CONTAINER, "--device=/dev/infiniband"));
      case YARN, SERVICE, HOST ->
          rule.isEmpty() ? finding : finding.mendedBy(FixLine.of(FixLine.Place.UDEV, rule));
    };
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
