/**
 * Map outputs of this process as memory regions that peers can READ. The same code runs in an
 * executor and in the node daemon.
 *
 * <p>{@link MapOutputRegistry} is the entry point. It has five steps for a map output:
 *
 * <ol>
 *   <li>The {@link RegistrationQueue} has a {@link PendingRegistration} opened on a thread of
 *       {@link DiskThreads}: {@link MapOutputFiles} finds the files, and {@link MapOutputIndex}
 *       reads and checks the index.
 *   <li>{@link LocalDirectories} gives the {@link RegistrationMethod} that {@link
 *       RegistrationProbe} found by trial for the directory of the data file.
 *   <li>{@link ShuffleOutputs} reserves room in the {@link RegistrationBudget}, and registers the
 *       {@link DataFile} and a slot of a partition table ({@link TableSlot}).
 *   <li>Without room or form, the {@link Registrar} has the map output staged ({@link IndexTable}),
 *       and evicts idle shuffles.
 *   <li>{@link MapOutputListener} announces the location.
 * </ol>
 *
 * <p>Tasks of this process read their own map outputs through {@link MapOutputReader} and {@link
 * RegisteredInputStream}. Serving peers and staging are in {@link dev.sluice.blocks.server}.
 */
package dev.sluice.blocks;
