// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

/**
 * A constant of a C enumeration. Values count from 0, as in C, unless the enumeration overrides
 * {@link #value}, so constants keep C's order and new ones are added where C has them. A test
 * compares them with the installed header. Values that come from C are {@link CValue}s.
 */
public interface CConstant {
  /** The constant's number in C. */
  default int value() {
    return ordinal();
  }

  /** The constant's position in the enumeration. */
  int ordinal();
}
