/** What is counted, and how it reaches the driver and its log. */
package dev.sluice.spark.metrics;
