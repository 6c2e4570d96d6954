/**
 * The driver's access to a cluster under faults. {@link Cluster} is the entry point: it gives
 * orders to the agents in executors, chooses an {@link ExecutorProcess}, and finds shuffle files.
 * {@link Stages} watches the run and counts {@link Stages.Losses}. {@link LeakCheck} checks for
 * leaks when a run is over.
 */
package dev.sluice.chaos.cluster;

import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.Stages;
