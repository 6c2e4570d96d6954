package dev.sluice.rdma.verbs.ffi;

/** A constant of a C enumeration, which as in C counts from 0 unless it says otherwise. */
public interface CConstant {
  /** As in C. */
  default int value() {
    return ordinal();
  }

  /** Of the enum that this is. */
  int ordinal();

  /**
   * The constant of a value from C that can be no other: see {@link CValue} for those that can.
   *
   * @throws IllegalArgumentException for one that the enumeration lacks
   */
  static <E extends Enum<E> & CConstant> E of(Class<E> type, int value) {
    return new CValue<>(type, value)
        .known()
        .orElseThrow(
            () -> new IllegalArgumentException(type.getSimpleName() + " has no value " + value));
  }
}
