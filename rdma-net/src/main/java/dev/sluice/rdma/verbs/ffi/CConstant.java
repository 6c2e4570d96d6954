package dev.sluice.rdma.verbs.ffi;

/** A constant of a C enumeration. */
public interface CConstant {
  int value();

  /**
   * The constant of a value from C.
   *
   * @throws IllegalArgumentException for one that the enumeration lacks
   */
  static <E extends Enum<E> & CConstant> E of(Class<E> type, int value) {
    for (E constant : type.getEnumConstants()) {
      if (constant.value() == value) {
        return constant;
      }
    }
    throw new IllegalArgumentException(type.getSimpleName() + " has no value " + value);
  }
}
