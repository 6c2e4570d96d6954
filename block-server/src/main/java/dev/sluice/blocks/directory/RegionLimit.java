// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kernel limit that bounds how many map outputs may be registered. Map outputs take half of a
 * process's mappings or descriptors; the JVM, its libraries and Spark need the other half. The
 * configuration, the node daemon, the doctor and {@link OpenFileLimit} ask it.
 *
 * @param path path in the root directory
 * @param line pattern of the line; its only group is the kernel's limit
 * @param each mappings or descriptors that a map output takes
 * @param otherwise the kernel's limit to assume if it cannot be read
 */
public record RegionLimit(String path, Pattern line, int each, int otherwise) {
  /** vm.max_map_count, proc_sys_vm(5); the kernel's default is DEFAULT_MAX_MAP_COUNT. */
  public static final RegionLimit MAPPINGS =
      new RegionLimit("proc/sys/vm/max_map_count", Pattern.compile("(\\d+)"), 1, 65_530);

  /**
   * RLIMIT_NOFILE, getrlimit(2); the JVM has raised the soft limit to the hard limit. A registered
   * file is open twice ({@link dev.sluice.rdma.file.DiskFile}).
   */
  public static final RegionLimit FILES =
      new RegionLimit("proc/self/limits", Pattern.compile("Max open files +(\\d+) .*"), 2, 4_096);

  private static final Logger LOG = LoggerFactory.getLogger(RegionLimit.class);

  /** Returns the maximum number of map outputs. */
  public int derive(Path root) {
    return outputs(kernels(root));
  }

  /** Returns the maximum number of map outputs where the kernel has its usual limit. */
  public int byDefault() {
    return outputs(otherwise);
  }

  /** Returns the kernel's limit for a number of map outputs. */
  public long kernelsFor(int outputs) {
    return 2L * each * outputs;
  }

  private int outputs(int kernelLimit) {
    return kernelLimit / (2 * each);
  }

  /** Returns the kernel's own limit. */
  public int kernels(Path root) {
    Path file = root.resolve(path);
    // Reads once: a second read of a sysctl returns its end, wherever the first one stopped.
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      Matcher found =
          reader.lines().map(line::matcher).filter(Matcher::matches).findFirst().orElseThrow();
      return Integer.parseInt(found.group(1));
    } catch (IOException | RuntimeException e) {
      LOG.warn("Cannot read the limit in {}; assuming {}", file, otherwise, e);
      return otherwise;
    }
  }

  /**
   * Number of files that a process may still keep open for a moment after they were read. All
   * {@link OpenFiles} of the process share it, such as those of a node daemon's applications. Files
   * that are being read may exceed it. {@link OpenFiles} counts each file once when it opens it,
   * and once when it closes it. Any thread; nothing to close.
   */
  public static final class OpenFileLimit {
    /** Cap where the descriptor limit is high. */
    private static final int MOST = 1024;

    /** Divisor of the process's descriptor limit: sockets and registered files need most of it. */
    private static final int PARTS = 8;

    private final AtomicInteger files;

    public OpenFileLimit() {
      this(Math.min(MOST, RegionLimit.FILES.kernels(Path.of("/")) / PARTS));
    }

    public OpenFileLimit(int files) {
      this.files = new AtomicInteger(files);
    }

    void opened() {
      files.decrementAndGet();
    }

    void closed() {
      files.incrementAndGet();
    }

    /** Returns true if more files are open than may be. */
    boolean isShort() {
      return files.get() < 0;
    }
  }
}
