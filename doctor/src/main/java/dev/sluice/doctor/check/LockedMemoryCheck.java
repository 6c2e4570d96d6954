// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.rdma.verbs.LockedMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Check of RLIMIT_MEMLOCK, and of the capability that lifts it. {@link Checks} creates it, and
 * {@link CheckRunner} asks it once, on a thread that is left behind if it hangs.
 *
 * @param environment environment of this process
 * @param neededBytes most bytes that an executor may lock
 */
record LockedMemoryCheck(Path root, Map<String, String> environment, long neededBytes)
    implements Check {
  static final String NAME = "memlock";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() throws IOException {
    LockedMemory memory = LockedMemory.read(root.resolve("proc/self"));
    Surroundings surroundings = Surroundings.of(root, environment);
    String said =
        "%s in %s, an executor locks up to %d KiB"
            .formatted(memory, surroundings, neededBytes / 1024);
    Finding finding =
        memory.allows(neededBytes)
            ? Finding.ok(NAME, said)
            : hasDevices()
                ? Finding.fail(NAME, said, surroundings.raiseLockedMemory())
                    .mendedBy(surroundings.lockedMemoryLine())
                : Finding.ok(NAME, said + "; without a device nothing is locked");
    return List.of(
        finding
            .with("limited", memory.bytes() != Long.MAX_VALUE)
            .with("limit_bytes", memory.bytes())
            .with("needed_bytes", neededBytes)
            .with("exemption", memory.exemption().name().toLowerCase(Locale.ROOT))
            .with("surroundings", surroundings.kind().name().toLowerCase(Locale.ROOT))
            .with("unit", surroundings.unit()));
  }

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
