/** Everything in which the versions of Spark differ that one jar runs on. */
package dev.sluice.spark.version;
