/** A reduce task's side of blocks that come together: chunks, and streams over them. */
package dev.sluice.spark.gather;
