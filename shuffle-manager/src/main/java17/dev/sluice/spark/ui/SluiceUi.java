// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.WebUIPage;
import org.apache.spark.util.kvstore.KVStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Adds the tab "Sluice" to Spark's pages. A history server finds it as a service, and makes one for
 * each application that it loads. In a driver, {@code UiFeed} calls {@link #attach}, or {@code
 * StockShuffle} calls {@link #showOff}, on the thread that registers the first shuffle. Nothing to
 * close: the tab ends with Spark's UI.
 *
 * <p>Spark 4.0 to 4.2 keep tabs and pages without a lock, and the application's threads add the
 * tabs of SQL and of streaming. No race is possible in an application with one thread. In one with
 * several threads a risk is left: one thread registers the first shuffle at the moment at which
 * another one makes the first SQL session. A tab may then be missing, or Spark's own call may fail.
 * The lock of the UI, which is held here, helps only against threads that hold it, too.
 *
 * <p>Nothing is thrown at Spark. If the tab cannot be added, the log has a line for the
 * application.
 */
public final class SluiceUi implements AppHistoryServerPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceUi.class);

  /**
   * Servlets of Spark 4. Those of Spark 3 are in javax.servlet, one page class cannot implement
   * both.
   */
  private static final String SERVLETS = "jakarta.servlet.";

  /** Adds listener and tab to a driver that has a UI. */
  public static void attach(SparkContext context) {
    if (context.ui().isEmpty()) {
      return;
    }
    try {
      if (!hasServlets()) {
        sayNoServlets();
        return;
      }
      KVStore store = context.statusStore().store();
      context.listenerBus().addToStatusQueue(StatusListener.live(store));
      SluiceTab.attach(context.ui().get());
    } catch (Throwable e) { // Errors too: a vendor's Spark may lack a class.
      sayFailed(e);
    }
  }

  /**
   * Adds the tab of an application with the stock shuffle, and tells the event log of it. Does
   * nothing on Spark 3, which can have no tab. An error may be thrown at the caller, if this Spark
   * lacks a class.
   *
   * @param reason why Sluice is off
   * @param key configuration key that turns it on; empty if there is none
   */
  public static void showOff(SparkContext context, String reason, String key) {
    if (hasServlets()) {
      attach(context);
      context.listenerBus().post(new SluiceOff(reason, key));
    }
  }

  @Override
  public Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    List<SparkListener> listeners = List.of();
    try {
      if (hasServlets()) {
        listeners = List.of(StatusListener.replaying(store));
      } else {
        sayNoServlets();
      }
    } catch (Throwable e) { // see above
      sayFailed(e);
    }
    return CollectionConverters.asScala(listeners).toSeq();
  }

  @Override
  public void setupUI(SparkUI ui) {
    try {
      if (hasServlets() && isKnown(ui.store().store())) {
        SluiceTab.attach(ui);
      }
    } catch (Throwable e) { // see above
      sayFailed(e);
    }
  }

  private static boolean isKnown(KVStore store) {
    return SluiceStatus.of(store).isPresent() || SluiceStatus.Off.of(store).isPresent();
  }

  private static void sayFailed(Throwable failure) {
    LOG.warn("Spark's UI has no tab Sluice, because adding it failed", failure);
  }

  private static void sayNoServlets() {
    LOG.info("Spark's UI has no tab Sluice: the tab needs Spark 4");
  }

  private static boolean hasServlets() {
    return Arrays.stream(WebUIPage.class.getMethods())
        .filter(method -> method.getName().equals("render"))
        .anyMatch(method -> method.getParameterTypes()[0].getName().startsWith(SERVLETS));
  }
}
