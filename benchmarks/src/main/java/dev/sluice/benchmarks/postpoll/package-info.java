/**
 * bin/bench post-poll: what calls of libibverbs cost from Java and from C. Begin with {@link
 * PostPollCommand}.
 */
package dev.sluice.benchmarks.postpoll;
