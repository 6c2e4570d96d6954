/**
 * An executor's side of the node daemon: hands committed map outputs over.
 *
 * <p>{@link NodeClient} is the entry point. It registers the executor at the daemon, and for each
 * map output links the files into an {@link ApplicationFolder} of the node and reports that over a
 * Unix domain socket. A {@link NodeConnection} is one such connection, and its {@link NodeChannel}
 * sends one request at a time over a {@link NodeSocket}, with a deadline. {@link
 * NodeClient.NodeEndpoint} tells readers where the daemon serves the map outputs.
 *
 * <p>A daemon of another user gives an {@link Inbox} instead, and moves the files into its {@link
 * ApplicationFolder} itself.
 *
 * <p>{@link ExecutorFolders} keeps the folders of a live executor locked, so that the daemon
 * deletes only those of dead ones.
 *
 * <p>The daemon uses {@link NodeChannel} and {@link ApplicationFolder} as well: they define the
 * frames on the socket and the layout of a folder.
 */
package dev.sluice.blocks.handover;
