/**
 * The command-line tools of bin/verbs. They do the work of the programs of ibverbs-utils,
 * rdmacm-utils and perftest in Java, and can talk to the programs in C.
 *
 * <p>{@link VerbsCommand} selects a {@link ToolCommand}, which is a class with its options. The two
 * sides of a {@link PeerCommand} meet over TCP, those of a {@link CmCommand} through rdma_cm. Other
 * classes, in this package or among the examples, hold the verbs objects. For example, {@link
 * BandwidthCommand} posts to a {@link PerfEndpoint}, which {@link PerfCommand} creates. A command
 * runs on one thread, which owns and closes all objects that it opens.
 *
 * <p>No other module depends on this package, and the drop-in jar does not contain it.
 */
package dev.sluice.verbs.tools;
