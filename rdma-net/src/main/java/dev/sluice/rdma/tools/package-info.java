/**
 * The command-line tools of bin/verbs: what the programs of ibverbs-utils, rdmacm-utils and
 * perftest do, by the binding of {@code dev.sluice.rdma.verbs}, and able to talk to the programs in
 * C.
 *
 * <p>Each command is a class that reads its options; what it does is in a class of its own. A
 * command runs on one thread, which owns and closes all that it opens. Nothing else depends on this
 * package, and the jar that users drop in does not carry it.
 */
package dev.sluice.rdma.tools;
