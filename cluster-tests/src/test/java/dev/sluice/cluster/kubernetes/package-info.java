/** Tests of the files in {@code conf/kubernetes} and {@code conf/helm}. */
package dev.sluice.cluster.kubernetes;
