package dev.sluice.spark.conf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What registered memory may take by default: a share of the executor's memory overhead, which is
 * what YARN and Kubernetes grant beside the heap, and never more than the container's limit leaves.
 * The machine's memory does not matter: most of it belongs to others.
 *
 * @param registrationBytes for map outputs
 * @param bufferBytes for buffers
 * @param stagingBytes for what is not registered and is asked for
 */
record MemoryBudget(long registrationBytes, long bufferBytes, long stagingBytes) {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryBudget.class);
  private static final long MIB = 1L << 20;

  /** Below these nothing works; an executor so small fails otherwise first. */
  private static final long LEAST_BYTES = 4 * MIB;

  /** The default budget of this process, from its configuration and the cgroup that it runs in. */
  static MemoryBudget derive(SparkConf conf, double share, Path root) {
    long heap = Runtime.getRuntime().maxMemory();
    return derive(conf, share, heap, containerLimit(root));
  }

  static MemoryBudget derive(
      SparkConf conf, double share, long heapBytes, OptionalLong containerLimit) {
    long available = overhead(conf);
    if (containerLimit.isPresent()) {
      long beside = containerLimit.getAsLong() - heapBytes - offHeap(conf);
      available = Math.min(available, Math.max(beside, 0));
    }
    long granted = (long) (available * share);
    return new MemoryBudget(
        Math.max(granted / 8 * 5, LEAST_BYTES),
        Math.max(granted / 4, LEAST_BYTES),
        Math.max(granted / 8, LEAST_BYTES));
  }

  /** As Spark's resource managers compute it. */
  private static long overhead(SparkConf conf) {
    if (conf.contains("spark.executor.memoryOverhead")) {
      return conf.getSizeAsMb("spark.executor.memoryOverhead") * MIB;
    }
    long memory = conf.getSizeAsMb("spark.executor.memory", "1g") * MIB;
    double factor = conf.getDouble("spark.executor.memoryOverheadFactor", 0.1);
    long least = conf.getSizeAsMb("spark.executor.minMemoryOverhead", "384m") * MIB;
    return Math.max((long) (memory * factor), least);
  }

  private static long offHeap(SparkConf conf) {
    boolean enabled = conf.getBoolean("spark.memory.offHeap.enabled", false);
    long offHeap = enabled ? conf.getSizeAsBytes("spark.memory.offHeap.size", "0") : 0;
    return offHeap + conf.getSizeAsMb("spark.executor.pyspark.memory", "0") * MIB;
  }

  /** The smallest limit on the way up from this process's cgroup, of version 2 or 1. */
  static OptionalLong containerLimit(Path root) {
    Path self = root.resolve("proc/self/cgroup");
    try {
      return (Files.exists(self) ? Files.readAllLines(self) : List.<String>of())
          .stream().flatMap(line -> limits(root, line)).mapToLong(Long::longValue).min();
    } catch (IOException e) {
      LOG.warn("Cannot read {}; no container limit is assumed", self, e);
      return OptionalLong.empty();
    }
  }

  /** Lines read hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers. */
  private static Stream<Long> limits(Path root, String line) {
    String[] fields = line.split(":", 3);
    if (fields.length < 3) {
      return Stream.empty();
    }
    Path mount = root.resolve("sys/fs/cgroup");
    if (fields[1].isEmpty()) {
      return limits(mount, fields[2], "memory.max");
    }
    return List.of(fields[1].split(",")).contains("memory")
        ? limits(mount.resolve("memory"), fields[2], "memory.limit_in_bytes")
        : Stream.empty();
  }

  /** In a container the path may be the host's, which is not mounted: then the mount itself. */
  private static Stream<Long> limits(Path mount, String cgroup, String file) {
    Path leaf = mount.resolve(cgroup.replaceFirst("^/+", "")).normalize();
    return Stream.iterate(leaf, dir -> dir != null && dir.startsWith(mount), Path::getParent)
        .map(dir -> dir.resolve(file))
        .filter(Files::isReadable)
        .flatMap(MemoryBudget::limit);
  }

  private static Stream<Long> limit(Path file) {
    try {
      String text = Files.readString(file).strip();
      return text.equals("max") ? Stream.empty() : Stream.of(Long.valueOf(text));
    } catch (IOException | NumberFormatException e) {
      LOG.warn("Cannot read {}; it is not taken for a limit", file, e);
      return Stream.empty();
    }
  }
}
