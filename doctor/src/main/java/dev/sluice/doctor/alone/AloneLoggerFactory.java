// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

/**
 * SLF4J's {@code LoggerFactory} while the doctor runs from the drop-in jar alone: {@link
 * AloneLoader} gives the class that name. Its loggers do nothing. Any thread.
 */
public final class AloneLoggerFactory implements AloneLogger {
  private AloneLoggerFactory() {}

  /**
   * @param type ignored
   */
  public static AloneLogger getLogger(Class<?> type) {
    return new AloneLoggerFactory();
  }
}
