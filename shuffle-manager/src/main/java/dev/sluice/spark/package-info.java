/** What Spark loads: the shuffle manager, and the parts of a driver and of an executor. */
package dev.sluice.spark;
