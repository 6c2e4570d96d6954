package dev.sluice.blocks;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many map outputs may be registered: half of what the kernel lets a process have of what each
 * is; the JVM, its libraries and Spark need the other half.
 *
 * @param path in the root directory
 * @param line that has the kernel's limit as its only group
 * @param otherwise the kernel's limit where it cannot be read
 */
public record RegionLimit(String path, Pattern line, int otherwise) {
  /** vm.max_map_count, proc_sys_vm(5), by default DEFAULT_MAX_MAP_COUNT of the kernel. */
  public static final RegionLimit MAPPINGS =
      new RegionLimit("proc/sys/vm/max_map_count", Pattern.compile("(\\d+)"), 65_530);

  /** RLIMIT_NOFILE, getrlimit(2), which the JVM has raised to what it may be. */
  public static final RegionLimit FILES =
      new RegionLimit("proc/self/limits", Pattern.compile("Max open files +(\\d+) .*"), 4_096);

  private static final Logger LOG = LoggerFactory.getLogger(RegionLimit.class);

  /** Map outputs at most. */
  public int derive(Path root) {
    return kernels(root) / 2;
  }

  /** The kernel's own limit. */
  public int kernels(Path root) {
    Path file = root.resolve(path);
    // In one read: what a sysctl gives to a second one is its end, wherever the first one stopped.
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      Matcher found =
          reader.lines().map(line::matcher).filter(Matcher::matches).findFirst().orElseThrow();
      return Integer.parseInt(found.group(1));
    } catch (IOException | RuntimeException e) {
      LOG.warn("Cannot read {}; {} is assumed", file, otherwise, e);
      return otherwise;
    }
  }
}
