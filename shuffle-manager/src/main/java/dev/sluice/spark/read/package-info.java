/** The way of a located block to its reader: READ, verify, deliver. */
package dev.sluice.spark.read;
