/**
 * What a fault can get hold of, in the driver process: begin with {@link Cluster}. {@link Remains}
 * is what executors still hold when a run is over.
 */
package dev.sluice.benchmarks.chaos.cluster;
