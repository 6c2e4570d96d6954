/**
 * Differences between the versions of Spark on which one jar runs. {@link ExternalSorters} hides a
 * constructor of Spark's that has changed. {@code dev.sluice.doctor.Platform} tells if Sluice runs
 * at all.
 */
package dev.sluice.spark.version;
