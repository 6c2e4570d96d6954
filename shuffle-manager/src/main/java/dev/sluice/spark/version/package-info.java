/**
 * Differences between the versions of Spark and Java on which one jar runs. {@link Platform} tells
 * if Sluice runs at all. {@link ExternalSorters} hides a constructor of Spark's that has changed.
 * {@link JvmDefect} warns of JVMs that corrupt data.
 */
package dev.sluice.spark.version;
