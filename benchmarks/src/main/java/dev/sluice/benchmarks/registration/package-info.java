/** bin/bench registration: what it costs to make a map output a memory region. */
package dev.sluice.benchmarks.registration;
