package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.util.Random;

/** Another one, which shows something only where blocks were staged meanwhile. */
record StagedBlow(Blow blow, Evidence staged) implements Blow {
  StagedBlow(Blow blow) {
    this(blow, Evidence.of("registry.staged-bytes"));
  }

  @Override
  public String unavailable(String provider) {
    return blow.unavailable(provider);
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    staged.begin(cluster);
    blow.prepare(cluster, random);
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    blow.strike(cluster, random);
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return blow.hasStruck(cluster, inTime) && staged.hasGrown(cluster);
  }

  @Override
  public void settled(Cluster cluster) throws Exception {
    blow.settled(cluster);
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    blow.heal(cluster);
  }
}
