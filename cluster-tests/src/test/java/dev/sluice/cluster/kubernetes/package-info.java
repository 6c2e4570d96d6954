/** Tests of the files in {@code conf/kubernetes}. */
package dev.sluice.cluster.kubernetes;
