/** Settings, what they mean, and what follows from them and the machine. */
package dev.sluice.spark.conf;
