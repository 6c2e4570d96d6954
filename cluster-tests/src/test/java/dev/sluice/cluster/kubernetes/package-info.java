/** What is in {@code conf/kubernetes}. */
package dev.sluice.cluster.kubernetes;
