/**
 * The doctor as a Spark job: on every executor, and with {@code --mesh} from each to each other.
 * For any JVM that Spark runs on, as executors may have another one than the driver; what is for
 * Java 25 is in {@code executor}, and loaded there by name.
 */
package dev.sluice.spark.doctor;
