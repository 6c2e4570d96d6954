/** Map tasks' writers, whose map outputs are registered when they commit. */
package dev.sluice.spark.write;
