/**
 * The doctor checks whether a node is ready for Sluice, and names the settings to change if it is
 * not.
 *
 * <p>{@link Main} starts it from the drop-in jar. It reads {@link Options}, and the answer is a
 * {@link Table} of {@link Finding}s. {@link Platform} tells if Sluice runs on a JVM with a Spark;
 * the shuffle manager asks it as well. These classes run on any JVM that Spark runs on.
 *
 * <p>{@code check} has one class for each question, {@code peer} READs from another node's doctor,
 * and {@code alone} runs it from the drop-in jar without Spark. {@code dev.sluice.spark.doctor}
 * runs it on every executor.
 */
package dev.sluice.doctor;
