// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/** Finds a binding's declarations by their type, so that a comparison omits none. */
public final class StaticFields {
  private StaticFields() {}

  /** Returns all constants of a type in a class, including non-public constants. */
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
