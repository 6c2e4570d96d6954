// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A C function outside of the data path. It is linked at its first call and called with boxed
 * arguments. A failure becomes a {@link VerbsException} with all of them and the error number. Any
 * thread.
 *
 * <p>A call costs some 100 ns more than a call through an exact method handle. The functions that
 * post and poll once per READ therefore have handles of their own.
 */
public final class NativeFunction implements CFunction {
  private static final MemoryLayout CAPTURE = Linker.Option.captureStateLayout();
  private static final long ERRNO_OFFSET =
      CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  /**
   * Allocates argument memory on the Java heap, which needs no arena. No pointer may refer to it: C
   * gets only a copy.
   */
  public static final SegmentAllocator HEAP =
      (bytes, alignment) ->
          MemorySegment.ofArray(new long[(int) ((bytes + Long.BYTES - 1) / Long.BYTES)])
              .asSlice(0, bytes);

  private static final NativeFunction STRERROR =
      exported(NativeLibrary.LIBC, "ptr strerror(int errnum)", Failure.NONE);

  private final String name;
  private final List<String> parameters;
  private final Failure failure;
  private final FunctionDescriptor descriptor;
  private final Function<String, MemorySegment> source;
  private final Linker.Option[] options;
  private volatile @Nullable MethodHandle handle;

  private NativeFunction(
      String declaration, Failure failure, Function<String, MemorySegment> source) {
    int open = declaration.indexOf('(');
    String[] result = declaration.substring(0, open).split(" ");
    String inner = declaration.substring(open + 1, declaration.length() - 1);
    List<String> names = new ArrayList<>();
    List<MemoryLayout> types = new ArrayList<>();
    List<Linker.Option> linking = new ArrayList<>();
    for (String parameter : inner.isEmpty() ? new String[0] : inner.split(", ")) {
      String[] typed = parameter.split(" ");
      if (parameter.equals("...")) {
        linking.add(Linker.Option.firstVariadicArg(names.size()));
      } else if (typed.length == 2) {
        types.add(layout(typed[0]));
        names.add(typed[1]);
      } else {
        throw new IllegalArgumentException(
            declaration + " has no type for the parameter " + parameter);
      }
    }
    if (failure != Failure.NONE) {
      linking.add(Linker.Option.captureCallState("errno"));
    }
    this.name = result[1];
    this.parameters = names;
    this.failure = failure;
    this.source = source;
    this.options = linking.toArray(Linker.Option[]::new);
    MemoryLayout[] layouts = types.toArray(MemoryLayout[]::new);
    descriptor =
        result[0].equals("void")
            ? FunctionDescriptor.ofVoid(layouts)
            : FunctionDescriptor.of(layout(result[0]), layouts);
  }

  /**
   * Returns a function that a library exports.
   *
   * @param declaration as in C, with the types {@code void}, {@code ptr}, and the sizes of Java's
   *     {@code byte}, {@code short}, {@code int} and {@code long}, such as {@code int
   *     ibv_query_srq(ptr srq, ptr srq_attr)}. Variadic parameters follow {@code ...}
   */
  public static NativeFunction exported(
      NativeLibrary library, String declaration, Failure failure) {
    return new NativeFunction(declaration, failure, library::symbol);
  }

  /** Returns a function of the C library that returns -1 and sets errno when it fails. */
  public static NativeFunction systemCall(String declaration) {
    return exported(NativeLibrary.LIBC, declaration, Failure.MINUS_ONE_WITH_ERRNO);
  }

  /** Returns the function at a pointer, such as a member of an operations table. */
  public static NativeFunction at(MemorySegment pointer, String declaration, Failure failure) {
    return new NativeFunction(declaration, failure, name -> pointer);
  }

  private static MemoryLayout layout(String type) {
    return switch (type) {
      case "byte" -> JAVA_BYTE;
      case "short" -> JAVA_SHORT;
      case "int" -> JAVA_INT;
      case "long" -> JAVA_LONG;
      case "ptr" -> ADDRESS;
      default -> throw new IllegalArgumentException("unknown type " + type);
    };
  }

  String name() {
    return name;
  }

  FunctionDescriptor descriptor() {
    return descriptor;
  }

  @Override
  public Object invoke(Object... arguments) throws VerbsException {
    MethodHandle linked;
    try {
      linked = linked();
    } catch (UnsatisfiedLinkError e) {
      throw new VerbsException(
          describe(arguments), VerbsException.ENOSYS, String.valueOf(e.getMessage()));
    }
    try (Arena arena = Arena.ofConfined()) {
      Object[] passed = arguments.clone();
      for (int i = 0; i < passed.length; i++) {
        if (passed[i] instanceof MemorySegment memory && !memory.isNative()) {
          passed[i] = arena.allocate(memory.byteSize(), Long.BYTES).copyFrom(memory);
        }
      }
      MemorySegment state = arena.allocate(CAPTURE);
      Object result = call(linked, state, passed);
      for (int i = 0; i < passed.length; i++) {
        if (passed[i] != arguments[i]) {
          ((MemorySegment) arguments[i]).copyFrom((MemorySegment) passed[i]);
        }
      }
      return checked(result, state.get(JAVA_INT, ERRNO_OFFSET), passed);
    }
  }

  private Object checked(Object result, int errno, Object[] arguments) throws VerbsException {
    boolean failed =
        switch (failure) {
          case NONE -> false;
          case NULL_WITH_ERRNO -> ((MemorySegment) result).address() == 0;
          case ERROR_NUMBER -> (int) result != 0;
          case MINUS_ONE_WITH_ERRNO -> ((Number) result).longValue() == -1;
          case NEGATIVE_WITH_ERRNO -> (int) result < 0;
        };
    if (failed) {
      // Some wrappers of rdma-core return -1 with errno, or a negative number, although the manual
      // page promises an error number.
      boolean isNumber = failure == Failure.ERROR_NUMBER && (int) result != -1;
      int number = isNumber ? Math.abs((int) result) : errno;
      String code = failure == Failure.NEGATIVE_WITH_ERRNO ? ", code " + result : "";
      throw new VerbsException(describe(arguments), number, STRERROR.callForString(number) + code);
    }
    return result;
  }

  private static Object call(MethodHandle linked, MemorySegment state, Object[] arguments) {
    try {
      return (Object) linked.invokeExact(state, arguments);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("a C function throws nothing", e);
    }
  }

  /** Links without a lock. Linking twice does no harm and costs less than a lock per call. */
  private MethodHandle linked() {
    MethodHandle linked = handle;
    if (linked == null) {
      linked = link();
      handle = linked;
    }
    return linked;
  }

  @SuppressWarnings("restricted")
  private MethodHandle link() {
    MethodHandle exact =
        Linker.nativeLinker().downcallHandle(source.apply(name), descriptor, options);
    MethodHandle withState =
        failure == Failure.NONE
            ? MethodHandles.dropArguments(exact, 0, MemorySegment.class)
            : exact;
    return withState
        .asSpreader(Object[].class, parameters.size())
        .asType(MethodType.methodType(Object.class, MemorySegment.class, Object[].class));
  }

  /** Describes the call for messages, without keys. */
  private String describe(Object[] arguments) {
    StringJoiner joined = new StringJoiner(", ", name + "(", ")");
    for (int i = 0; i < arguments.length; i++) {
      String parameter = parameters.get(i);
      if (!parameter.endsWith("key")) {
        joined.add(parameter + "=" + describe(arguments[i]));
      }
    }
    return joined.toString();
  }

  private static String describe(Object argument) {
    return argument instanceof MemorySegment segment
        ? "0x" + Long.toHexString(segment.address())
        : String.valueOf(argument);
  }
}
