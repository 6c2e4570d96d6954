// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Creates records with many components from builders. The builder has one public field per
 * component, of the same name and type. Meant for options: reflection takes microseconds per
 * record. Any thread.
 */
public final class Records {
  private Records() {}

  /**
   * Returns a record with the values of the builder's fields.
   *
   * @throws RuntimeException the exception of the record's constructor
   */
  public static <R extends Record> R of(Class<R> type, Object builder) {
    RecordComponent[] components = type.getRecordComponents();
    Object[] values = new Object[components.length];
    try {
      for (int i = 0; i < values.length; i++) {
        values[i] = builder.getClass().getField(components[i].getName()).get(builder);
      }
      Class<?>[] types =
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      return type.cast(
          MethodHandles.publicLookup()
              .findConstructor(type, MethodType.methodType(void.class, types))
              .invokeWithArguments(values));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(type + " and its builder do not match", e);
    }
  }

  /**
   * Returns a copy of a record with some components changed.
   *
   * @param builder receives the record's values before {@code change} runs
   */
  public static <R extends Record, B> R with(
      Class<R> type, R record, B builder, Consumer<B> change) {
    try {
      for (RecordComponent component : type.getRecordComponents()) {
        Object value = component.getAccessor().invoke(record);
        builder.getClass().getField(component.getName()).set(builder, value);
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type + " and its builder do not match", e);
    }
    change.accept(builder);
    return of(type, builder);
  }
}
