package dev.sluice.rdma.verbs.ffi;

import java.util.Optional;

/**
 * A value that C gave for an enumeration: one of its constants, or a number that kernels, drivers
 * or libraries of other releases use. Immutable.
 *
 * @param type the enumeration
 * @param number as in C
 */
public record CValue<E extends Enum<E> & CConstant>(Class<E> type, int number) {
  public static <E extends Enum<E> & CConstant> CValue<E> of(E constant) {
    return new CValue<>(constant.getDeclaringClass(), constant.value());
  }

  public boolean is(E constant) {
    return number == constant.value();
  }

  /** Empty for a number that the enumeration lacks. */
  public Optional<E> known() {
    for (E constant : type.getEnumConstants()) {
      if (is(constant)) {
        return Optional.of(constant);
      }
    }
    return Optional.empty();
  }

  /** The constant's name, else the number. */
  @Override
  public String toString() {
    return known().map(Enum::name).orElse(Integer.toString(number));
  }
}
