/**
 * bin/bench scale: what the driver's directory takes, {@link DirectoryScale}, and the model of
 * docs/scale.md, {@link ScaleModel}.
 */
package dev.sluice.benchmarks.scale;
