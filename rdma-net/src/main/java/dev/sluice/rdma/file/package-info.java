/** Files that many threads read at the same time. */
package dev.sluice.rdma.file;
