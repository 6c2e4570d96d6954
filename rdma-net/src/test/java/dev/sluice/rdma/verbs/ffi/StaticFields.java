package dev.sluice.rdma.verbs.ffi;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/** What a binding declares, found by its type, so that nothing is left out of a comparison. */
public final class StaticFields {
  private StaticFields() {}

  /** All constants of a type that a class has, also those that are not public. */
  public static <T> List<T> of(Class<?> owner, Class<T> type) throws IllegalAccessException {
    List<T> constants = new ArrayList<>();
    for (Field field : owner.getDeclaredFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == type) {
        field.setAccessible(true);
        constants.add(type.cast(field.get(null)));
      }
    }
    return constants;
  }
}
