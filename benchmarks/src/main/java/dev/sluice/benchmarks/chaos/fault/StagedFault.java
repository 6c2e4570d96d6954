package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * Another fault where nothing is registered, and all is staged in the least memory that there is
 * for it.
 */
final class StagedFault extends Fault {
  private static final Map<String, String> ALL_STAGED =
      Map.of(
          "spark.shuffle.rdma.registration.maxBytes", "0",
          "spark.shuffle.rdma.staging.maxBytes", "4m");

  private final Fault fault;
  private final Evidence staged = Evidence.of("registry.staged-bytes");

  StagedFault(Fault fault) {
    super("staged-" + fault.name(), "all is staged: " + fault.what(), fault.moment());
    this.fault = fault;
  }

  @Override
  public int delayMs(Random random) {
    return fault.delayMs(random);
  }

  @Override
  public long lastsMs() {
    return fault.lastsMs();
  }

  @Override
  public int stageRetries() {
    return fault.stageRetries();
  }

  @Override
  public int lostExecutors() {
    return fault.lostExecutors();
  }

  @Override
  public boolean happensToStock() {
    return fault.happensToStock();
  }

  @Override
  public String unavailable(String provider) {
    return fault.unavailable(provider);
  }

  @Override
  public String cluster() {
    return "staged-" + fault.cluster();
  }

  @Override
  public boolean spoilsCluster() {
    return fault.spoilsCluster();
  }

  @Override
  public Map<String, String> settings(Path directory) throws Exception {
    Map<String, String> settings = new HashMap<>(fault.settings(directory));
    settings.putAll(ALL_STAGED);
    return settings;
  }

  @Override
  public boolean allows(Workload workload) {
    return fault.allows(workload);
  }

  @Override
  public boolean isLong() {
    return fault.isLong();
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    staged.begin(cluster);
    fault.prepare(cluster, random);
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    fault.strike(cluster, random);
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return fault.hasStruck(cluster, inTime) && staged.hasGrown(cluster);
  }

  @Override
  public void settled(Cluster cluster) throws Exception {
    fault.settled(cluster);
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    fault.heal(cluster);
  }

  @Override
  public void end(Path directory) throws IOException {
    fault.end(directory);
  }
}
