// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * Event for Spark's listeners and its event log: Sluice is off, and the application uses the stock
 * shuffle. The driver posts it with the first shuffle, and then no {@link SluiceUpdate}. Any
 * thread; immutable.
 *
 * @param reason why Sluice is off
 * @param key configuration key that turns it on; empty if there is none
 */
public record SluiceOff(String reason, String key) implements SparkListenerEvent {
  /** Fills in the components that an event log of another version lacks. */
  public SluiceOff {
    reason = reason == null ? "" : reason;
    key = key == null ? "" : key;
  }
}
