/**
 * bin/bench scale: what grows with executors, map outputs and partitions, each in a class of its
 * own that {@link ScaleCommand} names; and the model of docs/scale.md, {@link ScaleModel}.
 */
package dev.sluice.benchmarks.scale;
