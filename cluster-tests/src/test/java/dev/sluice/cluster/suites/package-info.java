/** Hadoop's own tests of MapReduce, unchanged, with Sluice's shuffle plug-in. */
package dev.sluice.cluster.suites;
