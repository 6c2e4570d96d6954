/** Finds resources that were opened and never closed, and who opened them. */
package dev.sluice.rdma.leak;
