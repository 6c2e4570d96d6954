/**
 * bin/bench read: READs between two processes. {@link SoftReads} has those of the software
 * provider, with the other process in {@link PeerMain}; {@link VerbsReads} starts bin/verbs and
 * perftest.
 */
package dev.sluice.benchmarks.read;
