/**
 * The tab "Sluice" in Spark's UI and in its history server.
 *
 * <p>The driver posts a {@link SluiceUpdate} at intervals, which Spark's event log keeps as well.
 * {@link StatusListener} turns the updates into a {@link SluiceStatus} in Spark's store, of a live
 * driver or of an application that a history server replays. An application with the stock shuffle
 * posts one {@link SluiceOff} instead. {@link SluiceUi} adds listener and tab in both; the history
 * server finds it through {@code META-INF/services}. {@link SluiceTab} is the thin layer to Spark's
 * pages. {@link StatusPage} writes the page, with the plot of {@link BytesPlot}.
 *
 * <p>All of it is compiled for Java 17 and uses no other class of Sluice: a history server may run
 * on Java 17, and must load applications whatever it finds here. The names of the records are in
 * event logs, so they never change. A record may get further components, which older logs lack.
 */
package dev.sluice.spark.ui;
