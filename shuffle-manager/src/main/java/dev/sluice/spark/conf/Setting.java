package dev.sluice.spark.conf;

import dev.sluice.blocks.conf.Type;
import org.apache.spark.SparkConf;

/**
 * One configuration key: its type, default and documentation. The instances are the rows of {@link
 * Settings}; any thread reads them.
 *
 * @param key the whole key
 * @param defaultValue as one would write it; null where the default is derived or there is none
 * @param defaultText the default as the documentation states it
 * @param doc one or two sentences for the documentation
 * @param type what values are allowed
 */
record Setting<T>(String key, String defaultValue, String defaultText, String doc, Type<T> type) {

  /** The value that is set, else the default; null where that is derived. */
  T get(SparkConf conf) {
    String value = conf.get(key, defaultValue);
    return value == null ? null : type.parse(key, value);
  }
}
