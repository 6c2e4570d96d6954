/** What of the doctor's Spark job runs on executors, on a JVM that is new enough. */
package dev.sluice.spark.doctor.executor;
