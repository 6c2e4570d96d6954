// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.ibv.IbvAhAttr;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Builders of records name each component three times: a copy keeps all, and changes one alone. */
class BuildersTest {
  static Stream<Record> records() {
    return Stream.of(
        ConnectionAttributes.DEFAULT,
        DeviceAttributes.NONE,
        SoftOptions.DEFAULT,
        TransferOptions.DEFAULT,
        VerbsOptions.DEFAULT,
        RdmaConnParam.DEFAULT,
        IbvAhAttr.ZERO);
  }

  @ParameterizedTest
  @MethodSource("records")
  void aChangedComponentIsTheOnlyOneThatDiffers(Record before) throws Exception {
    for (RecordComponent changed : before.getClass().getRecordComponents()) {
      if (!changed.getType().isPrimitive()) {
        continue;
      }
      Record after = with(before, builder -> increment(builder, changed.getName()));
      Record copy = with(after, builder -> {});
      for (RecordComponent each : before.getClass().getRecordComponents()) {
        Object old = each.getAccessor().invoke(before);
        Object expected = each.getName().equals(changed.getName()) ? next(old) : old;
        assertThat(each.getAccessor().invoke(after)).as("%s", each).isEqualTo(expected);
        assertThat(each.getAccessor().invoke(copy)).as("copy of %s", each).isEqualTo(expected);
      }
    }
  }

  private static Record with(Record record, Consumer<Object> change) throws Exception {
    return (Record) record.getClass().getMethod("with", Consumer.class).invoke(record, change);
  }

  private static void increment(Object builder, String name) {
    try {
      Field field = builder.getClass().getField(name);
      field.set(builder, next(field.get(builder)));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns another value, which each of the records allows. */
  private static Object next(Object value) {
    if (value instanceof Boolean flag) {
      return !flag;
    }
    return value instanceof Long number
        ? (Object) (number + Integer.MAX_VALUE)
        : (Object) ((Integer) value == 255 ? 254 : (Integer) value + 1);
  }
}
