/**
 * The first programs of the verbs manuals, step by step as in the manuals.
 *
 * <p>Begin with {@link dev.sluice.examples.RcExample}, which connects a queue pair over TCP and
 * does a SEND, a READ and a WRITE. {@link dev.sluice.examples.CmClient} and {@link
 * dev.sluice.examples.CmServer} connect through rdma_cm, and {@link dev.sluice.examples.Datagrams}
 * and {@link dev.sluice.examples.Multicast} exchange datagrams. Each has a main method; bin/verbs
 * runs them with its own options. The programs use {@code dev.sluice.verbs} alone.
 */
package dev.sluice.examples;
