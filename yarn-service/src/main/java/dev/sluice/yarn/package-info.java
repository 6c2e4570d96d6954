/**
 * Auxiliary service that runs the node daemon inside YARN's NodeManager.
 *
 * <p>YARN loads {@link dev.sluice.yarn.SluiceNodeService}, which computes the daemon's arguments.
 * {@link dev.sluice.yarn.RegisteredMemory} computes how much memory the daemon may register, and a
 * supervisor restarts the daemon's process when it ends. The service serves no blocks itself.
 * {@link dev.sluice.yarn.JobShuffleHandler} tells the daemon of MapReduce jobs. The package is
 * compiled for Java 8 and depends on Hadoop alone.
 */
package dev.sluice.yarn;
