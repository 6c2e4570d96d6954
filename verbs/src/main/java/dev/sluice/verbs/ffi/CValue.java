// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import java.util.Optional;

/**
 * An enumeration value that C returned. It is either a known constant, or a number that other
 * releases of kernels, drivers or libraries use. Immutable.
 *
 * @param type the enumeration
 * @param number the value in C
 */
public record CValue<E extends Enum<E> & CConstant>(Class<E> type, int number) {
  public static <E extends Enum<E> & CConstant> CValue<E> of(E constant) {
    return new CValue<>(constant.getDeclaringClass(), constant.value());
  }

  public boolean is(E constant) {
    return number == constant.value();
  }

  /** Returns the constant; empty if the enumeration lacks the number. */
  public Optional<E> known() {
    for (E constant : type.getEnumConstants()) {
      if (is(constant)) {
        return Optional.of(constant);
      }
    }
    return Optional.empty();
  }

  /** Returns the constant's name, or the number if there is no constant. */
  @Override
  public String toString() {
    return known().map(Enum::name).orElse(Integer.toString(number));
  }
}
