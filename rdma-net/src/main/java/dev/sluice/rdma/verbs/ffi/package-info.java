/**
 * What the bindings of libibverbs and librdmacm share: libraries, C functions with their ways to
 * report errors, C structures, and waiting for file descriptors. Knows nothing of RDMA.
 */
package dev.sluice.rdma.verbs.ffi;
