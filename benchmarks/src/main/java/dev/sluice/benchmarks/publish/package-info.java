/**
 * bin/bench publish: what registering and publishing add to map tasks. {@link PublishCommand}
 * starts {@link PublishJob} in driver processes.
 */
package dev.sluice.benchmarks.publish;
