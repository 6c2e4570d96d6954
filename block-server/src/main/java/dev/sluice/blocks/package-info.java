/**
 * Map outputs of this process as memory regions that peers can READ. The same code runs in an
 * executor and in the node daemon.
 *
 * <p>{@link MapOutputRegistry} is the entry point. It has five steps for a map output:
 *
 * <ol>
 *   <li>{@link MapOutputFiles} finds the files, and {@link MapOutputIndex} reads and checks the
 *       index, on a thread of {@link DiskThreads}.
 *   <li>{@link LocalDirectories} gives the {@link RegistrationMethod} that {@link
 *       RegistrationProbe} found by trial for the directory of the data file.
 *   <li>{@link Registrar} reserves room in the {@link RegistrationBudget}, and evicts idle shuffles
 *       early.
 *   <li>{@link ShuffleOutputs} registers the {@link DataFile} and a slot of a partition table
 *       ({@link TableSlot}). Otherwise the map output is to be staged ({@link IndexTable}).
 *   <li>{@link MapOutputListener} announces the location.
 * </ol>
 *
 * <p>Tasks of this process read their own map outputs through {@link MapOutputReader} and {@link
 * RegisteredInputStream}. Serving peers and staging are in {@link dev.sluice.blocks.server}.
 */
package dev.sluice.blocks;
