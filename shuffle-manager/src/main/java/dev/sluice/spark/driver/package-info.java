/**
 * Sluice's part on the driver.
 *
 * <p>{@link DriverRuntime} opens the location directory when the first shuffle is registered, and
 * listens to Spark for lost executors. {@link NodeLifetimes} watches node daemons, which hold map
 * outputs of executors that have ended. When a daemon is lost, it removes their locations from
 * Spark's map output tracker, by {@link TrackedOutputs}, so that Spark runs the map tasks again.
 *
 * <p>{@link UiFeed} posts the application's state for the tab in Spark's UI, and {@link
 * MixedProviders} warns of executors that cannot READ from each other.
 *
 * <p>No block passes the driver.
 */
package dev.sluice.spark.driver;
