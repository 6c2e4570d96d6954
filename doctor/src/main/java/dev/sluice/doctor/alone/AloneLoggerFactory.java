// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

/**
 * SLF4J's {@code LoggerFactory} while the doctor runs from the drop-in jar alone. {@link
 * AloneLoader} replaces AloneLogger by org.slf4j.Logger in the names of the class files. The name
 * of this class therefore begins with AloneLogger, and its method has the signature of the only
 * getLogger that our classes call. It is its own logger, so that two classes suffice. Its loggers
 * do nothing. Any thread.
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
