/**
 * Configuration of executors and the driver. {@link Settings} is the table of all keys, and {@link
 * SluiceConf} gives the code their values. Defaults of memory depend on {@link ExecutorMemory}.
 * {@link NodeAccess} describes the way to the node daemon.
 */
package dev.sluice.spark.conf;
