// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

/**
 * The methods of SLF4J's Logger that our classes call. They do nothing: the doctor reports by
 * findings. A test checks that these are exactly the methods that are called.
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
