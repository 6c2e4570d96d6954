/**
 * The node daemon: a process on each node that keeps and serves map outputs after their executors
 * have ended.
 *
 * <p>{@link dev.sluice.node.NodeMain} starts the process, {@link dev.sluice.node.NodeDaemon} is its
 * core. An executor uses {@link dev.sluice.blocks.handover.NodeClient}: it links a map output's
 * files into one of the node's folders and reports that over a Unix domain socket. The daemon's
 * {@code SocketServer} admits the executor, and the {@code ApplicationStore} of its {@code
 * SparkApplication} takes the map output. {@code Applications} knows each {@code Application}, also
 * one that cannot be served yet.
 *
 * <p>MapReduce jobs hand nothing over. The {@code JobFiles} of a {@code JobApplication} find files
 * of map tasks in YARN's directories. The readers of all jobs use one port, the {@code JobPort}.
 *
 * <p>Each application has its own device, memory and secret. An application of Spark also has its
 * own port, on which a {@link dev.sluice.blocks.server.BlockServer} answers its readers. The port
 * serves Spark's own transfer of blocks, too, and takes the driver's messages about ended shuffles.
 *
 * <p>The folders are the daemon's whole state, so it may be killed at any time and finds its map
 * outputs again. Nothing survives a reboot. The daemon starts and runs no executors, and never
 * READs.
 */
package dev.sluice.node;
