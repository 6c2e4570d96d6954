/**
 * The doctor: whether a node is ready for Sluice, and what to set where it is not. This package is
 * what starts it and what it says, for any JVM that Spark runs on; {@code check} has one class for
 * each question, {@code peer} READs from another node's doctor, {@code alone} runs it from the
 * drop-in jar without Spark. {@code dev.sluice.spark.doctor} runs it on every executor.
 */
package dev.sluice.doctor;
