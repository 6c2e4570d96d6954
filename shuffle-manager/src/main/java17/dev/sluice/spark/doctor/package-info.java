/**
 * The doctor as a Spark job, on every executor, and with {@code --mesh} from each host to each
 * other.
 *
 * <p>{@link Doctor} is the main class. {@link Executors} waits for executors and addresses tasks to
 * them. An {@link ExecutorTask} checks one executor. A {@link MeshTask} per host READs from the
 * other hosts, and {@link Mesh} makes findings of the results.
 *
 * <p>These classes run on any JVM that Spark runs on, as executors may have another one than the
 * driver. Classes for Java 21 are in {@code executor}, and are loaded there by name.
 */
package dev.sluice.spark.doctor;
