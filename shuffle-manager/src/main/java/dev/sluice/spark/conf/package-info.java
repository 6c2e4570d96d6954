/**
 * Configuration. {@link Settings} is the table of all keys, and {@link SluiceConf} gives the code
 * their values. Defaults that depend on the executor come from {@link ExecutorMemory}, {@link
 * Cgroup} and {@link MemoryBudget}, and some on verbs from {@link EnvironmentHints}. {@link
 * NodeAccess} describes the way to the node daemon.
 */
package dev.sluice.spark.conf;
