/**
 * Foreign-function layer of both bindings. {@link NativeLibrary} loads a library, {@link
 * NativeFunction} calls its functions and turns each {@link Failure} into an exception, and {@link
 * CStruct} lays out its structures. {@link NativeObject} closes C objects in order, and {@link
 * FileDescriptors} waits for events. The package knows nothing of RDMA.
 */
package dev.sluice.verbs.ffi;
