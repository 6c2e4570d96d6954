// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import static java.lang.invoke.MethodType.methodType;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields.Kinds;
import dev.sluice.blocks.wire.Fields.MaxElements;
import dev.sluice.blocks.wire.Fields.ShuffleId;
import dev.sluice.rdma.RemoteRegion;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Writes and reads the values of one type. The codec of a record is derived from its components,
 * once per class, for the {@link MessageType}s. Any thread; immutable.
 *
 * <p>A record is written as its components, in the order of their declaration. A list or map is
 * written as its size and its elements, an Optional as a boolean and its value, and an interface as
 * the place of a record in {@link Kinds} and that record. {@link Fields} has all other types.
 *
 * <p>The accessors of a record are composed into one method handle that writes it, and its
 * constructor and the codecs of its components into one that reads it. That takes 3 to 5 ms of CPU
 * time at the first use of a class, and ten times as much in a process that has just started:
 * {@link ReadCodecs} has codecs that are written by hand. Numbers that are components of their own
 * are not boxed.
 *
 * @param leastBytes smallest size of a value
 */
record RecordCodec<T>(BiConsumer<Output, T> writer, Function<Input, T> reader, int leastBytes) {
  private static final Lookup LOOKUP = MethodHandles.lookup();

  private static final ClassValue<RecordCodec<?>> RECORDS =
      new ClassValue<>() {
        @Override
        protected RecordCodec<?> computeValue(Class<?> type) {
          RecordCodec<?> byHand = ReadCodecs.of(type);
          return byHand == null ? derive(type) : byHand;
        }
      };

  /** Returns the codec of a record. The first call for a class takes milliseconds. */
  @SuppressWarnings("unchecked")
  static <T> RecordCodec<T> of(Class<T> type) {
    return (RecordCodec<T>) RECORDS.get(type);
  }

  @SuppressWarnings("unchecked")
  static <T> RecordCodec<T> derive(Class<T> type) {
    if (!type.isRecord()) {
      throw new IllegalArgumentException("no codec of " + type);
    }
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    MethodHandle[] readers = new MethodHandle[components.length];
    MethodHandle writer = MethodHandles.empty(methodType(void.class, Object.class, type));
    int leastBytes = 0;
    try {
      MethodHandle accept =
          LOOKUP.findVirtual(
              BiConsumer.class, "accept", methodType(void.class, Object.class, Object.class));
      MethodHandle apply =
          LOOKUP.findVirtual(Function.class, "apply", methodType(Object.class, Object.class));
      Lookup lookup = MethodHandles.privateLookupIn(type, LOOKUP);
      for (int i = components.length - 1; i >= 0; i--) {
        RecordCodec<?> codec = of(components[i].getAnnotatedType());
        types[i] = components[i].getType();
        readers[i] = apply.bindTo(codec.reader).asType(methodType(types[i], Object.class));
        MethodHandle accessor =
            lookup.unreflect(components[i].getAccessor()).asType(methodType(Object.class, type));
        MethodHandle first = accept.bindTo(codec.writer);
        writer =
            MethodHandles.foldArguments(writer, MethodHandles.filterArguments(first, 1, accessor));
        leastBytes += codec.leastBytes;
      }
      MethodHandle reader = // Its filters run from left to right.
          MethodHandles.permuteArguments(
              MethodHandles.filterArguments(
                  lookup.findConstructor(type, methodType(void.class, types)), 0, readers),
              methodType(type, Object.class),
              new int[components.length]);
      return new RecordCodec<>(
          MethodHandleProxies.asInterfaceInstance(BiConsumer.class, writer),
          MethodHandleProxies.asInterfaceInstance(Function.class, reader),
          leastBytes);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("no codec of " + type, e);
    }
  }

  @SuppressWarnings("unchecked")
  private static RecordCodec<Object> of(AnnotatedType annotated) {
    if (annotated instanceof AnnotatedParameterizedType container) {
      return (RecordCodec<Object>) ofContainer(container);
    }
    Class<?> type = (Class<?>) annotated.getType();
    RecordCodec<?> field =
        annotated.isAnnotationPresent(ShuffleId.class)
            ? FieldCodecs.SHUFFLE_ID
            : FieldCodecs.BY_TYPE.get(methodType(type).wrap().returnType());
    if (field == null) {
      Kinds kinds = type.getAnnotation(Kinds.class);
      return kinds == null ? (RecordCodec<Object>) of(type) : ofKinds(kinds);
    }
    return (RecordCodec<Object>) field;
  }

  private static RecordCodec<?> ofContainer(AnnotatedParameterizedType annotated) {
    AnnotatedType[] parts = annotated.getAnnotatedActualTypeArguments();
    RecordCodec<Object> first = of(parts[0]);
    Class<?> type = (Class<?>) ((ParameterizedType) annotated.getType()).getRawType();
    if (type == Optional.class) {
      return ofOptional(first);
    }
    if (type == Map.class) {
      return ofMap(first, of(parts[1]));
    }
    if (type != List.class) {
      throw new IllegalArgumentException("no codec of " + type);
    }
    MaxElements max = annotated.getAnnotation(MaxElements.class);
    return ofList(first, max == null ? Integer.MAX_VALUE : max.value());
  }

  static <T> RecordCodec<List<T>> ofList(RecordCodec<T> element, int max) {
    return new RecordCodec<>(
        (output, elements) -> {
          Fields.writeCount(output, elements.size());
          for (T each : elements) {
            element.writer.accept(output, each);
          }
        },
        input -> {
          int count = Fields.readCount(input, element.leastBytes);
          if (count > max) {
            throw new KryoException(
                "%d elements, but at most %d are allowed".formatted(count, max));
          }
          List<T> elements = new ArrayList<>();
          for (int left = count; left > 0; left--) {
            elements.add(element.reader.apply(input));
          }
          return Collections.unmodifiableList(elements);
        },
        1);
  }

  private static <K, V> RecordCodec<Map<K, V>> ofMap(RecordCodec<K> key, RecordCodec<V> value) {
    return new RecordCodec<>(
        (output, map) -> {
          Fields.writeCount(output, map.size());
          map.forEach(
              (k, v) -> {
                key.writer.accept(output, k);
                value.writer.accept(output, v);
              });
        },
        input -> {
          int count = Fields.readCount(input, key.leastBytes + value.leastBytes);
          Map<K, V> map = new HashMap<>();
          for (int left = count; left > 0; left--) {
            map.put(key.reader.apply(input), value.reader.apply(input));
          }
          return map;
        },
        1);
  }

  private static <T> RecordCodec<Optional<T>> ofOptional(RecordCodec<T> content) {
    return new RecordCodec<>(
        (output, optional) -> {
          output.writeBoolean(optional.isPresent());
          optional.ifPresent(value -> content.writer.accept(output, value));
        },
        input -> input.readBoolean() ? Optional.of(content.reader.apply(input)) : Optional.empty(),
        1);
  }

  @SuppressWarnings("unchecked")
  private static RecordCodec<Object> ofKinds(Kinds annotation) {
    List<Class<?>> kinds = List.of(annotation.value());
    List<RecordCodec<Object>> codecs =
        kinds.stream().map(kind -> (RecordCodec<Object>) of(kind)).toList();
    return new RecordCodec<>(
        (output, value) -> {
          int kind = kinds.indexOf(value.getClass());
          output.writeByte(kind);
          codecs.get(kind).writer.accept(output, value);
        },
        input -> {
          int kind = input.readByte();
          if (kind < 0 || kind >= codecs.size()) {
            throw unknown(kind);
          }
          return codecs.get(kind).reader.apply(input);
        },
        1);
  }

  static KryoException unknown(int kind) {
    return new KryoException("unknown kind %d of a message's content".formatted(kind));
  }

  /** Codecs of single fields. They are loaded when the first codec of a record is derived. */
  private static final class FieldCodecs {
    /** Codecs of types that are not made of others; those of numbers by their boxes. */
    static final Map<Class<?>, RecordCodec<?>> BY_TYPE =
        Map.of(
            Integer.class,
                new RecordCodec<Integer>(Output::writeInt, Input::readInt, Integer.BYTES),
            Long.class, new RecordCodec<Long>(Output::writeLong, Input::readLong, Long.BYTES),
            Boolean.class, new RecordCodec<Boolean>(Output::writeBoolean, Input::readBoolean, 1),
            String.class, new RecordCodec<>(Fields::writeString, Fields::readString, 1),
            byte[].class, new RecordCodec<>(Fields::writeBytes, Fields::readBytes, 1),
            int[].class, new RecordCodec<>(Fields::writeInts, Fields::readInts, 1),
            long[].class, new RecordCodec<>(Fields::writeLongs, Fields::readLongs, 1),
            RemoteRegion.class, new RecordCodec<>(Fields::writeRegion, Fields::readRegion, 20),
            MapOutputLocation.class,
                new RecordCodec<>(Fields::writeLocation, Fields::readLocation, 1));

    static final RecordCodec<Integer> SHUFFLE_ID =
        new RecordCodec<>(Output::writeInt, Fields::readShuffleId, Integer.BYTES);

    private FieldCodecs() {}
  }
}
