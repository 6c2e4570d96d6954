/**
 * Writers of map tasks. Spark's own writers write the files. {@link RegisteringShuffleWriter} wraps
 * one of them and has the map output registered, or handed over to the node daemon, when it
 * commits. {@link RegisteringShuffleWriter.OpenWriters} tells whether more map outputs are about to
 * follow.
 */
package dev.sluice.spark.write;
