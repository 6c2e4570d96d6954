package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.spark.conf.Cgroup;
import dev.sluice.spark.conf.MemoryBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the container leaves: memory.max and rdma.max.
 *
 * @param objects queue pairs, regions and completion queues that an executor may have at most
 */
record CgroupCheck(Cgroup cgroup, MemoryBudget budget, long objects) implements Check {
  private static final Pattern HANDLES = Pattern.compile("hca_handle=(\\d+)");
  private static final Pattern OBJECTS = Pattern.compile("hca_object=(\\d+)");

  @Override
  public String name() {
    return "cgroup";
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
      return Finding.ok(name(), "no limit of memory");
    }
    String said = "memory.max is " + (limit.getAsLong() >> 20) + " MiB";
    return budget.isLeast()
        ? Finding.warn(
            name(),
            said + ", which heap and off-heap memory fill",
            "spark.executor.memoryOverhead (docs/deployment.md, Sizing)")
        : Finding.ok(name(), said);
  }

  private Finding rdma(String line) {
    String said = "rdma.max is " + line;
    if (isBelow(HANDLES, line, 1)) {
      return Finding.fail(name(), said + ": no device may be opened", "hca_handle=max");
    }
    return isBelow(OBJECTS, line, objects)
        ? Finding.warn(
            name(),
            said + ", an executor may have " + objects + " objects",
            "hca_object=max, or a smaller spark.shuffle.rdma.connections.max")
        : Finding.ok(name(), said);
  }

  private static boolean isBelow(Pattern limit, String line, long least) {
    Matcher found = limit.matcher(line);
    return found.find() && Long.parseLong(found.group(1)) < least;
  }
}
