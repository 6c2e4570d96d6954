/** Where blocks can be READ: the driver's directory, and what an executor knows of map outputs. */
package dev.sluice.spark.locate;
