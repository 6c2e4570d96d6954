/**
 * Open files that many threads read at the same time.
 *
 * <p>{@link DiskFile} is the file that a device can register: it reads, sends, and tells which
 * bytes the page cache has. It works through {@link FileFd}, a file descriptor, where native access
 * is allowed. {@link SharedFile} serves the reads of many threads, and keeps the bytes that follow
 * small reads in the owner's {@link ReadAhead}. The package starts no threads.
 */
package dev.sluice.rdma.file;
