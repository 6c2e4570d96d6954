/**
 * Tables of settings, of executors and of node daemons. {@link SettingTable} is where to begin: it
 * checks keys and values, and documents are generated from it.
 *
 * <p>Each {@link Setting} has a key, a default, its documentation and a {@link Type}, which parses
 * a value or rejects it with a message that names the key and the allowed values. {@link
 * Suggestion} finds the key that a user meant by a misspelt one.
 *
 * <p>{@link ExecutorSettings} is the table of Spark's keys; the daemon's is not here. {@link
 * VerbsSettings} are the rows of RDMA devices, which both tables have. They become {@link
 * dev.sluice.rdma.verbs.VerbsOptions}.
 *
 * <p>{@link ExecutorConf} gives the code their values as far as that needs no Spark, for executors
 * and for the doctor. Defaults that an executor derives come from its {@link MemoryBudget}, which
 * {@link ExecutorMemory} and {@link Cgroup} limit, and from {@link EnvironmentHints}.
 */
package dev.sluice.blocks.conf;
