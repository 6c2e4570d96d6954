/**
 * Tables of settings, of executors and of node daemons. {@link SettingTable} is where to begin: it
 * checks keys and values, and documents are generated from it.
 *
 * <p>Each {@link Setting} has a key, a default, its documentation and a {@link Type}, which parses
 * a value or rejects it with a message that names the key and the allowed values. {@link
 * Suggestion} finds the key that a user meant by a misspelt one.
 *
 * <p>The tables themselves are not here: Spark's keys and the daemon's have one each. {@link
 * VerbsSettings} are the rows of RDMA devices, which both tables have. They become {@link
 * dev.sluice.rdma.verbs.VerbsOptions}.
 *
 * <p>Defaults that an executor derives come from its {@link MemoryBudget}, which {@link Cgroup}
 * limits, and from {@link EnvironmentHints}. The doctor derives the same without Spark.
 */
package dev.sluice.blocks.conf;
