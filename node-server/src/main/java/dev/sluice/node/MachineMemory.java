// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The machine's memory, from which the default limit of registered bytes is derived. With verbs,
 * pages of registered map outputs stay in memory. Most of the memory is therefore left to
 * containers that start later, and to the page cache. {@link NodeDevice} reads it once, at the
 * start.
 *
 * @param limitBytes memory of the machine, or memory.max of the daemon's control group
 * @param availableBytes memory available without swapping, MemAvailable of proc_meminfo(5); counts
 *     the whole machine, also in a container
 */
record MachineMemory(long limitBytes, long availableBytes) {
  private static final Logger LOG = LoggerFactory.getLogger(MachineMemory.class);
  private static final Pattern AVAILABLE = Pattern.compile("(?m)^MemAvailable: +(\\d+) kB$");

  private static final long MAX_DEFAULT_BYTES = 4L << 30;

  /** A quarter of the free memory is registered. */
  private static final int SHARE = 4;

  static MachineMemory current() {
    long limitBytes =
        ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
            .getTotalMemorySize();
    return read(Path.of("/proc/meminfo"), limitBytes);
  }

  /**
   * @param meminfo the file /proc/meminfo; without a value there, all memory counts as available
   */
  static MachineMemory read(Path meminfo, long limitBytes) {
    try {
      Matcher available = AVAILABLE.matcher(Files.readString(meminfo));
      if (available.find()) {
        return new MachineMemory(limitBytes, Long.parseLong(available.group(1)) << 10);
      }
      LOG.debug("{} has no MemAvailable", meminfo);
    } catch (IOException e) {
      LOG.debug("{} cannot be read", meminfo, e);
    }
    return new MachineMemory(limitBytes, limitBytes);
  }

  /** Default limit of registered bytes of all applications together. */
  long defaultRegistrationBytes() {
    long bytes = Math.min(MAX_DEFAULT_BYTES, freeBytes() / SHARE);
    LOG.info(
        "Registering at most {} MiB of map outputs: a quarter of the {} MiB of free memory, and at"
            + " most 4 GiB; set {} to change it",
        bytes >> 20,
        freeBytes() >> 20,
        NodeSettings.REGISTRATION_MAX_BYTES.key());
    return bytes;
  }

  private long freeBytes() {
    return Math.min(limitBytes, availableBytes);
  }
}
