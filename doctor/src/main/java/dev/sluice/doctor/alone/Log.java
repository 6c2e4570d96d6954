// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

/**
 * Stand-in for SLF4J's Logger while the doctor runs from the drop-in jar alone, without SLF4J. All
 * classes that log then call these methods, by {@link AloneLogger}, on any thread. The methods do
 * nothing: the doctor reports by findings.
 *
 * <p>A call that this interface lacks ends in a NoSuchMethodError. A test checks that it has every
 * method of Logger that these classes call.
 */
public interface Log {
  default void debug(String message) {}

  default void debug(String message, Throwable cause) {}

  default void debug(String format, Object argument) {}

  default void debug(String format, Object first, Object second) {}

  default void debug(String format, Object... arguments) {}

  default void info(String message) {}

  default void info(String format, Object argument) {}

  default void info(String format, Object first, Object second) {}

  default void info(String format, Object... arguments) {}

  default void warn(String message) {}

  default void warn(String message, Throwable cause) {}

  default void warn(String format, Object argument) {}

  default void warn(String format, Object first, Object second) {}

  default void warn(String format, Object... arguments) {}

  default void error(String message) {}

  default void error(String message, Throwable cause) {}

  default void error(String format, Object argument) {}

  default void error(String format, Object first, Object second) {}

  default void error(String format, Object... arguments) {}
}
