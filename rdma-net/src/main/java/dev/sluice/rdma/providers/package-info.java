/** Chooses and opens the provider by which a process reaches its peers. */
package dev.sluice.rdma.providers;
