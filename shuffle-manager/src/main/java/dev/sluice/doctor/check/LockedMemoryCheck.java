package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.rdma.verbs.LockedMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * RLIMIT_MEMLOCK and the capability that lifts it.
 *
 * @param neededBytes that an executor may lock at most
 */
record LockedMemoryCheck(Path root, long neededBytes) implements Check {
  private static final String ONLY_THE_RUNTIME =
      "LimitMEMLOCK=infinity of the container runtime's unit (containerd, docker, crio), and restart"
          + " it: IPC_LOCK added to a pod exempts only root, and nobody in a user namespace";

  @Override
  public String name() {
    return "memlock";
  }

  @Override
  public List<Finding> findings() throws IOException {
    LockedMemory memory = LockedMemory.read(root.resolve("proc/self"));
    String said = "%s, an executor takes up to %d KiB".formatted(memory, neededBytes / 1024);
    if (memory.allows(neededBytes)) {
      return List.of(Finding.ok(name(), said));
    }
    String set =
        memory.exemption() == LockedMemory.Exemption.NONE ? LockedMemory.REMEDY : ONLY_THE_RUNTIME;
    return List.of(
        hasDevices() ? Finding.fail(name(), said, set) : Finding.warn(name(), said, set));
  }

  /** Without a device nothing is locked. */
  private boolean hasDevices() throws IOException {
    Path devices = root.resolve("sys/class/infiniband");
    if (!Files.isDirectory(devices)) {
      return false;
    }
    try (Stream<Path> entries = Files.list(devices)) {
      return entries.findAny().isPresent();
    }
  }
}
