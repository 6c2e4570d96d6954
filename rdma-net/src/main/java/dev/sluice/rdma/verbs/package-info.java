/**
 * RDMA by libibverbs and what is below: the only packages that may use native access. {@code ffi}
 * calls C, {@code ibv} and {@code cm} bind the two libraries, and this one is the provider: it
 * chooses device, port and GID, and implements the seam.
 */
package dev.sluice.rdma.verbs;
