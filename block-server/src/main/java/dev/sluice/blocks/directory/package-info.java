/**
 * How data files of a local directory register as memory regions, and how many bytes may.
 *
 * <p>{@link LocalDirectories} is the entry point: for a file it returns the {@link
 * RegistrationMethod} of its {@link LocalDirectory}. {@link RegistrationProbe} finds it by trial,
 * in the order that the {@code RegistrationMode} allows; {@link LoopbackRead} then READs the file
 * back. The probe repeats what failed, because a directory may be mounted later.
 *
 * <p>{@link DataFile} registers a file by this method. The result is a {@link MapOutputData}: a
 * mapping, an open file, or a file that is not registered. {@link OpenFiles} keeps the last kind
 * open while they are read.
 *
 * <p>{@link RegistrationBudget} limits the registered bytes and regions of one registry. {@link
 * RegionLimit} derives limits of the process from those of the operating system. {@link
 * RegistryCounter} counts what happens here and in the registry.
 *
 * <p>Nothing here knows a shuffle. Which file is registered, and when, is decided in {@link
 * dev.sluice.blocks.registry}.
 */
package dev.sluice.blocks.directory;
