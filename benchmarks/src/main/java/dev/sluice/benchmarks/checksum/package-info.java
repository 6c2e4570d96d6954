/** bin/bench checksum: what verifying a block costs. */
package dev.sluice.benchmarks.checksum;
