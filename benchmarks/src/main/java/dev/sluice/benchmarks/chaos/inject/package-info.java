/**
 * What runs inside executors: Sluice behind a device, a way to the driver and a control port that
 * go wrong when ordered. Begin with {@link ChaosShuffleManager}; {@link Injection} lists what can
 * be ordered.
 */
package dev.sluice.benchmarks.chaos.inject;
