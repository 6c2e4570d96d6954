// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory that this process may register. The kernel charges each memory region to RLIMIT_MEMLOCK
 * (getrlimit(2)), unless the process has CAP_IPC_LOCK. The provider, the node daemon and the doctor
 * read it before they register memory. Immutable.
 *
 * @param bytes the soft limit; Long.MAX_VALUE if there is none
 * @param exemption tells whether the limit applies to this process
 */
public record LockedMemory(long bytes, Exemption exemption) {
  /** Effect of CAP_IPC_LOCK on a process (capabilities(7)). */
  public enum Exemption {
    NONE(""),
    /** No exemption: a pod adds the capability, but runs as another user than root. */
    BOUNDING_SET_ONLY(
        " (CAP_IPC_LOCK is in the bounding set only, which does not exempt this process)"),
    /**
     * No exemption: the kernel asks for the capability in the host's user namespace. Rootless
     * containers have it in their own.
     */
    USER_NAMESPACE(
        " (CAP_IPC_LOCK is valid in a user namespace only, which does not exempt this process)"),
    EFFECTIVE(" (exempt by CAP_IPC_LOCK)");

    private final String words;

    Exemption(String words) {
      this.words = words;
    }

    private static Exemption of(String status, boolean userNamespace) {
      if (has(EFFECTIVE_SET, status)) {
        return userNamespace ? USER_NAMESPACE : EFFECTIVE;
      }
      return has(BOUNDING_SET, status) ? BOUNDING_SET_ONLY : NONE;
    }

    private static boolean has(Pattern set, String status) {
      Matcher capabilities = set.matcher(status);
      return capabilities.find()
          && (Long.parseUnsignedLong(capabilities.group(1), 16) >>> CAP_IPC_LOCK & 1) == 1;
    }
  }

  private static final Pattern LIMIT = Pattern.compile("(?m)^Max locked memory +(\\d+|unlimited)");
  private static final Pattern EFFECTIVE_SET = Pattern.compile("(?m)^CapEff:\\s*(\\p{XDigit}+)");
  private static final Pattern BOUNDING_SET = Pattern.compile("(?m)^CapBnd:\\s*(\\p{XDigit}+)");
  private static final int CAP_IPC_LOCK = 14;

  /**
   * USER_NS_INIT_INO of linux/nsfs.h: the host's namespace, as ns/user shows it (namespaces(7)).
   */
  private static final Path FIRST_USER_NAMESPACE = Path.of("user:[4026531837]");

  /** Advice for a limit that is too small. */
  public static final String REMEDY =
      "raise the limit (ulimit -l, LimitMEMLOCK= of the service, --ulimit memlock= of the"
          + " container), or register less (of an executor: spark.shuffle.rdma.memoryShare; of a node"
          + " daemon: sluice.node.registration.maxBytes; of a reduce task:"
          + " sluice.mapreduce.buffers.maxBytes and sluice.mapreduce.connections.max)";

  /** Reads the limit of this process. */
  public static LockedMemory current() {
    return read(Path.of("/proc/self"));
  }

  /**
   * @param process its directory in /proc
   */
  public static LockedMemory read(Path process) {
    try {
      Matcher limit = LIMIT.matcher(Files.readString(process.resolve("limits")));
      boolean limited = limit.find() && !limit.group(1).equals("unlimited");
      return new LockedMemory(
          limited ? Long.parseLong(limit.group(1)) : Long.MAX_VALUE,
          Exemption.of(Files.readString(process.resolve("status")), isInUserNamespace(process)));
    } catch (IOException e) {
      return new LockedMemory(Long.MAX_VALUE, Exemption.NONE);
    }
  }

  /** Returns true in any user namespace but the first, whatever user ids it maps. */
  private static boolean isInUserNamespace(Path process) throws IOException {
    Path namespace = process.resolve("ns/user");
    return Files.isSymbolicLink(namespace)
        && !Files.readSymbolicLink(namespace).equals(FIRST_USER_NAMESPACE);
  }

  /** Bytes that the process may lock; Long.MAX_VALUE if nothing limits it. */
  public long allowedBytes() {
    return exemption == Exemption.EFFECTIVE ? Long.MAX_VALUE : bytes;
  }

  /** Returns true if the process may lock this number of bytes. */
  public boolean allows(long needed) {
    return allowedBytes() >= needed;
  }

  /**
   * @throws ProviderUnavailableException if the process may lock less than {@code needed} bytes
   */
  void require(long needed) throws ProviderUnavailableException {
    if (!allows(needed)) {
      throw new ProviderUnavailableException(
          "%s, but map outputs, buffers and queue pairs may need %d KiB: %s"
              .formatted(this, needed / 1024, REMEDY));
    }
  }

  @Override
  public String toString() {
    String limit = bytes == Long.MAX_VALUE ? "unlimited" : bytes / 1024 + " KiB";
    return "memlock " + limit + exemption.words;
  }
}
