/**
 * Foreign-function layer of both bindings. {@link dev.sluice.verbs.ffi.NativeLibrary} loads a
 * library, {@link dev.sluice.verbs.ffi.NativeFunction} calls its functions and turns each {@link
 * dev.sluice.verbs.ffi.Failure} into an exception, and {@link dev.sluice.verbs.ffi.CStruct} lays
 * out its structures. {@link dev.sluice.verbs.ffi.NativeObject} closes C objects in order, and
 * {@link dev.sluice.verbs.ffi.FileDescriptors} waits for events. The package knows nothing of RDMA.
 */
package dev.sluice.verbs.ffi;
