package dev.sluice.spark.conf;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many map outputs may be mapped: half of what the kernel allows a process to map
 * (vm.max_map_count, proc_sys_vm(5)); the JVM, its libraries and Spark need the other half.
 */
final class MappingLimit {
  private static final Logger LOG = LoggerFactory.getLogger(MappingLimit.class);

  /** The kernel's default, DEFAULT_MAX_MAP_COUNT. */
  private static final int DEFAULT_MAPPINGS = 65_530;

  private MappingLimit() {}

  static int derive(Path root) {
    Path file = root.resolve("proc/sys/vm/max_map_count");
    int mappings = DEFAULT_MAPPINGS;
    // In one read: what a sysctl gives to a second one is its end, wherever the first one stopped.
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      mappings = Integer.parseInt(String.valueOf(reader.readLine()));
    } catch (IOException | NumberFormatException e) {
      LOG.warn("Cannot read {}; {} is assumed", file, DEFAULT_MAPPINGS, e);
    }
    return mappings / 2;
  }
}
