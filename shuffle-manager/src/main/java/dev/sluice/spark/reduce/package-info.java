/** Reduce tasks' readers: Spark's own iterators around blocks that are READ, alone or gathered. */
package dev.sluice.spark.reduce;
