/** Finds resources that were opened and never closed, with the stacks that opened them. */
package dev.sluice.rdma.leak;
