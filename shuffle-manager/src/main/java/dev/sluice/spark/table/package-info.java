/**
 * Where blocks lie in map outputs that are located: the tables that say so, from the executors or
 * nodes that have them.
 */
package dev.sluice.spark.table;
