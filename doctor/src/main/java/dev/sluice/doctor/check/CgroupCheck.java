// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.Cgroup;
import dev.sluice.blocks.conf.ExecutorMemory;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.MemoryBudget.Grant;
import dev.sluice.doctor.Finding;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Check of the container's limits: memory.max and rdma.max. {@link Checks} makes it, and {@link
 * CheckRunner} asks it once, on a thread of its own.
 *
 * @param grant memory that Spark and its resource manager grant
 * @param objects most queue pairs, regions and completion queues that an executor may have
 */
record CgroupCheck(Cgroup cgroup, MemoryBudget budget, Grant grant, long objects) implements Check {
  static final String NAME = "cgroup";

  private static final String RDMA = "rdma.max";
  private static final Pattern HANDLES = Pattern.compile("hca_handle=(\\d+)");
  private static final Pattern OBJECTS = Pattern.compile("hca_object=(\\d+)");

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    findings.add(memory());
    cgroup.rdmaMax().forEach(line -> findings.add(rdma(line)));
    return findings;
  }

  private Finding memory() {
    OptionalLong limit = cgroup.memoryMax();
    if (limit.isEmpty()) {
      return Finding.ok(name(), "no memory limit");
    }
    String said = "memory.max is " + (limit.getAsLong() >> 20) + " MiB";
    long left = Math.max(0, limit.getAsLong() - grant.heapBytes() - grant.offHeapBytes());
    Finding finding =
        budget.isLeast() && left < grant.overheadBytes()
            ? Finding.warn(
                name(),
                "%s: beside heap and off-heap memory it leaves %d of the %d MiB of overhead"
                    .formatted(said, left >> 20, grant.overheadBytes() >> 20),
                "lower %s, or raise %s and the container's limit (docs/sizing.md, Memory)"
                    .formatted(ExecutorMemory.HEAP, ExecutorMemory.OVERHEAD))
            : Finding.ok(name(), said);
    return finding.with("memory_max_bytes", limit.getAsLong());
  }

  private Finding rdma(String line) {
    return judged(line).with("rdma_max", line).with("needed_objects", objects);
  }

  private Finding judged(String line) {
    String said = "rdma.max is " + line;
    if (isBelow(HANDLES, line, 1)) {
      return Finding.fail(RDMA, said + ": no device may be opened", "set hca_handle=max");
    }
    return isBelow(OBJECTS, line, objects)
        ? Finding.warn(
            RDMA,
            said + ", but an executor may need " + objects + " objects",
            "set hca_object=max, or lower " + ExecutorSettings.CONNECTIONS_MAX.key())
        : Finding.ok(RDMA, said);
  }

  private static boolean isBelow(Pattern limit, String line, long least) {
    Matcher found = limit.matcher(line);
    return found.find() && Long.parseLong(found.group(1)) < least;
  }
}
