/**
 * The command-line tools of bin/verbs. They do the work of the programs of ibverbs-utils,
 * rdmacm-utils and perftest in Java, and can talk to the programs in C.
 *
 * <p>{@link dev.sluice.verbs.tools.VerbsCommand} selects a command. Each command is a class with
 * its options; the work is done by other classes, in this package or among the examples. For
 * example, {@link dev.sluice.verbs.tools.BandwidthCommand} opens a {@link
 * dev.sluice.verbs.tools.PerfSession}, which connects a {@link dev.sluice.verbs.tools.PerfEndpoint}
 * and runs a {@link dev.sluice.verbs.tools.BandwidthRun} on it. A command runs on one thread, which
 * owns and closes all objects that it opens.
 *
 * <p>No other module depends on this package, and the drop-in jar does not contain it.
 */
package dev.sluice.verbs.tools;
