/**
 * Map outputs of this process by shuffle: registered as memory regions, or to be staged.
 *
 * <p>{@link MapOutputRegistry} is the entry point. It has five steps for a map output:
 *
 * <ol>
 *   <li>The {@link RegistrationQueue} has {@link MapOutputFiles} find the files, and {@link
 *       MapOutputIndex} read and check the index, on a thread of {@link DiskThreads}.
 *   <li>{@link dev.sluice.blocks.directory.LocalDirectories} gives the method by which files of its
 *       directory register.
 *   <li>{@link ShuffleOutputs} reserves room in the {@link
 *       dev.sluice.blocks.directory.RegistrationBudget}, and registers the data file and a slot of
 *       a partition table ({@link TableSlot}).
 *   <li>Without room, {@link Registrar} has the map output staged ({@link IndexTable}), and evicts
 *       idle shuffles early.
 *   <li>{@link MapOutputListener} announces the location.
 * </ol>
 *
 * <p>Tasks of this process read their own map outputs through {@link MapOutputReader} and {@link
 * RegisteredInputStream}. {@link ShuffleMemory} unmaps memory of a shuffle once its last reader has
 * left.
 *
 * <p>{@link RegistrationForecast} computes the cost of registrations, for the doctor.
 *
 * <p>The registry speaks to no peer: {@link dev.sluice.blocks.server} does.
 */
package dev.sluice.blocks.registry;
