/** Spark's block resolver, which knows the map outputs that are registered. */
package dev.sluice.spark.resolve;
