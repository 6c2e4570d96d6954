// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.inject.Injection;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A fault that executors inject into themselves, or that their settings cause from the start. Only
 * Sluice can notice it, and no stage may be repeated. The driver's main thread orders the
 * injections; the agents in the executors carry them out.
 *
 * @param rates rates of the injections; empty for a fault by settings
 */
record InjectedFault(Map<Injection, Double> rates, List<Evidence> evidence) implements FaultAction {
  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    cluster.order(rates, random.nextLong(), 0);
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.orderNothing();
  }
}
