/** bin/bench scale: what the driver's directory takes, {@link DirectoryScale}. */
package dev.sluice.benchmarks.scale;
