/**
 * bin/bench stage: what finds no room among registered memory. {@link Premise} says what copying a
 * map output costs beside registering it, {@link StageLoad} has peers stage for many at once.
 */
package dev.sluice.benchmarks.stage;
