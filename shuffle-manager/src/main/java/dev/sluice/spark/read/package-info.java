/** The way of a block from its location to its reader: locate, READ, verify, deliver. */
package dev.sluice.spark.read;
