package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Something that is wrong from the start of the cluster to its end, by its settings. */
final class ConfiguredFault extends Fault {
  private final List<String> workloads;
  private final Map<String, String> settings;
  private final Evidence evidence;

  /**
   * @param workloads as {@link #workloads}
   */
  ConfiguredFault(
      String name,
      String what,
      List<String> workloads,
      Map<String, String> settings,
      Evidence evidence) {
    super(name, what, Moment.BEFORE);
    this.workloads = workloads;
    this.settings = settings;
    this.evidence = evidence;
  }

  @Override
  public String unavailable(String provider) {
    boolean ofSoft = settings.keySet().stream().anyMatch(key -> key.contains(".rdma.soft."));
    return ofSoft && !provider.equals("soft") ? "only the software provider has it" : null;
  }

  @Override
  public String cluster() {
    return name();
  }

  @Override
  public Map<String, String> settings(Path directory) {
    return settings;
  }

  @Override
  public List<String> workloads() {
    return workloads;
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    evidence.begin(cluster);
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    // It is there.
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return evidence.hasGrown(cluster);
  }
}
