package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ProviderUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How much memory this process may register: RLIMIT_MEMLOCK (getrlimit(2)), which the kernel
 * charges each memory region to, unless the process has CAP_IPC_LOCK.
 *
 * @param bytes the soft limit; Long.MAX_VALUE for none
 * @param exempt whether the limit does not hold for this process
 */
record LockedMemory(long bytes, boolean exempt) {
  private static final Pattern LIMIT = Pattern.compile("(?m)^Max locked memory +(\\d+|unlimited)");
  private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*(\\p{XDigit}+)");
  private static final int CAP_IPC_LOCK = 14;

  /** What to do where the limit is too small. */
  static final String REMEDY =
      "raise the limit (ulimit -l, LimitMEMLOCK= of the service, --ulimit memlock= of the"
          + " container), or register less (spark.shuffle.rdma.memoryShare)";

  /** That of this process. */
  static LockedMemory current() {
    return read(Path.of("/proc/self"));
  }

  static LockedMemory read(Path process) {
    try {
      Matcher limit = LIMIT.matcher(Files.readString(process.resolve("limits")));
      Matcher capabilities = CAPABILITIES.matcher(Files.readString(process.resolve("status")));
      boolean limited = limit.find() && !limit.group(1).equals("unlimited");
      boolean exempt =
          capabilities.find()
              && (Long.parseUnsignedLong(capabilities.group(1), 16) >>> CAP_IPC_LOCK & 1) == 1;
      return new LockedMemory(limited ? Long.parseLong(limit.group(1)) : Long.MAX_VALUE, exempt);
    } catch (IOException e) {
      return new LockedMemory(Long.MAX_VALUE, false);
    }
  }

  /**
   * @throws ProviderUnavailableException when the process may lock less than {@code needed} bytes
   */
  void require(long needed) throws ProviderUnavailableException {
    if (!exempt && bytes < needed) {
      throw new ProviderUnavailableException(
          "%s, of which map outputs, buffers and queue pairs may take %d KiB: %s"
              .formatted(this, needed / 1024, REMEDY));
    }
  }

  @Override
  public String toString() {
    String limit = bytes == Long.MAX_VALUE ? "unlimited" : bytes / 1024 + " KiB";
    return "memlock " + limit + (exempt ? " (exempt by CAP_IPC_LOCK)" : "");
  }
}
