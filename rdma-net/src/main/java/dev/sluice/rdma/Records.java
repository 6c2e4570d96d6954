package dev.sluice.rdma;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Records of many components, made by builders that have a public field of the same name and type
 * for each of them. For options and the like: reflection takes some microseconds. Any thread.
 */
public final class Records {
  private Records() {}

  /**
   * The record that a builder's fields say.
   *
   * @throws RuntimeException what the record's constructor throws
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
      throw new IllegalStateException(type + " and its builder do not fit", e);
    }
  }

  /**
   * A record but for what is changed.
   *
   * @param builder of such records, whose fields are set first
   */
  public static <R extends Record, B> R with(
      Class<R> type, R record, B builder, Consumer<B> change) {
    try {
      for (RecordComponent component : type.getRecordComponents()) {
        Object value = component.getAccessor().invoke(record);
        builder.getClass().getField(component.getName()).set(builder, value);
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type + " and its builder do not fit", e);
    }
    change.accept(builder);
    return of(type, builder);
  }
}
