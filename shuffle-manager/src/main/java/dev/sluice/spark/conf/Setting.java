// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import dev.sluice.blocks.conf.Type;
import org.apache.spark.SparkConf;

/**
 * One configuration key: its type, default and documentation. The instances are the rows of {@link
 * Settings}; any thread reads them.
 *
 * @param key the whole key
 * @param defaultValue the default as a user would write it; null if it is derived or there is none
 * @param defaultText the default as the documentation states it
 * @param doc one or two sentences for the documentation
 * @param type the allowed values
 */
record Setting<T>(String key, String defaultValue, String defaultText, String doc, Type<T> type) {

  /** Returns the value that is set, else the default; null if that is derived. */
  T get(SparkConf conf) {
    String value = conf.get(key, defaultValue);
    return value == null ? null : type.parse(key, value);
  }
}
