/** Where map outputs can be READ: the driver's directory, and what an executor knows of it. */
package dev.sluice.spark.locate;
