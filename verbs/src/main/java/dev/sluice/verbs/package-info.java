/**
 * The verbs API for Java. This package holds the types that both bindings use: exceptions, GIDs and
 * network devices.
 *
 * <p>Start at {@link dev.sluice.verbs.ibv.IbvDeviceList}, which lists the devices of libibverbs, or
 * at {@link dev.sluice.verbs.cm.RdmaEventChannel}, which connects by IP address through librdmacm.
 * Both bindings call C through {@code ffi}.
 *
 * <p>A function that fails throws a {@link dev.sluice.verbs.VerbsException} with operation,
 * arguments and error number. If the machine lacks a library or a device driver, the exception is a
 * {@link dev.sluice.verbs.ProviderUnavailableException}.
 */
package dev.sluice.verbs;
