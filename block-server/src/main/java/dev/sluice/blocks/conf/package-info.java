/**
 * How configuration is written: the types of its values, and what is said of RDMA devices alike for
 * an executor and for a node's block server, each by keys with a prefix of its own.
 */
package dev.sluice.blocks.conf;
