/**
 * Parts of the doctor's Spark job that run on executors, on a JVM that is new enough: the checks
 * ({@link ExecutorDoctor}) and a node of the mesh ({@link ExecutorMeshNode}).
 */
package dev.sluice.spark.doctor.executor;
