/**
 * Configuration of executors and the driver. {@link SluiceConf} gives the code the values of the
 * table {@code ExecutorSettings} of {@code blocks.conf}. {@link NodeAccess} describes the way to
 * the node daemon.
 */
package dev.sluice.spark.conf;
