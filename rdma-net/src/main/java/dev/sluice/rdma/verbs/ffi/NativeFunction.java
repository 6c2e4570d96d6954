package dev.sluice.rdma.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;

/**
 * A C function outside of the data path: linked at its first call, called with boxed arguments, and
 * turning the function's way to report errors into a {@link VerbsException} that names operation,
 * arguments and error number. Any thread.
 *
 * <p>A call costs some 100 ns more than by an exact handle; what is posted and polled per READ has
 * handles of its own.
 */
public final class NativeFunction {
  private static final MemoryLayout CAPTURE = Linker.Option.captureStateLayout();
  private static final long ERRNO_OFFSET =
      CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  private final String name;
  private final List<String> parameters;
  private final Failure failure;
  private final FunctionDescriptor descriptor;
  private final AddressSource source;
  private final Linker.Option[] options;
  private volatile MethodHandle handle;

  private interface AddressSource {
    MemorySegment address();
  }

  private NativeFunction(
      String prototype,
      Failure failure,
      FunctionDescriptor descriptor,
      AddressSource source,
      Linker.Option... options) {
    int open = prototype.indexOf('(');
    String inner = prototype.substring(open + 1, prototype.length() - 1);
    this.name = prototype.substring(0, open);
    this.parameters = inner.isEmpty() ? List.of() : Arrays.asList(inner.split(", "));
    this.failure = failure;
    this.descriptor = descriptor;
    this.source = source;
    this.options = failure.setsErrno() ? withErrno(options) : options;
    if (parameters.size() != descriptor.argumentLayouts().size()) {
      throw new IllegalArgumentException(prototype + " does not name all of its arguments");
    }
  }

  /**
   * A function that a library exports.
   *
   * @param prototype name and parameters, such as {@code ibv_reg_mr(pd, addr, length, access)}
   */
  public static NativeFunction exported(
      NativeLibrary library, String prototype, Failure failure, FunctionDescriptor descriptor) {
    String name = prototype.substring(0, prototype.indexOf('('));
    return new NativeFunction(prototype, failure, descriptor, () -> library.symbol(name));
  }

  /** An exported function of the C library whose arguments after the first ones are variadic. */
  static NativeFunction variadic(
      String prototype, Failure failure, FunctionDescriptor descriptor, int fixedArguments) {
    String name = prototype.substring(0, prototype.indexOf('('));
    return new NativeFunction(
        prototype,
        failure,
        descriptor,
        () -> NativeLibrary.LIBC.symbol(name),
        Linker.Option.firstVariadicArg(fixedArguments));
  }

  /** A function that is known by its pointer, as the members of an operations table are. */
  public static NativeFunction at(
      MemorySegment pointer, String prototype, Failure failure, FunctionDescriptor descriptor) {
    return new NativeFunction(prototype, failure, descriptor, () -> pointer);
  }

  String name() {
    return name;
  }

  FunctionDescriptor descriptor() {
    return descriptor;
  }

  /**
   * Calls a function that returns an int.
   *
   * @throws VerbsException when the function failed, and with ENOSYS when the library lacks it
   */
  public int call(Object... arguments) throws VerbsException {
    return (int) invoke(arguments);
  }

  /**
   * Calls a function that returns a pointer: a segment of zero length.
   *
   * @throws VerbsException when the function failed, and with ENOSYS when the library lacks it
   */
  public MemorySegment callForPointer(Object... arguments) throws VerbsException {
    return (MemorySegment) invoke(arguments);
  }

  /** Calls a function whatever it returns, null if it returns nothing. */
  public Object invoke(Object... arguments) throws VerbsException {
    MethodHandle linked;
    try {
      linked = linked();
    } catch (UnsatisfiedLinkError e) {
      throw new VerbsException(describe(arguments), VerbsException.ENOSYS, e.getMessage());
    }
    if (!failure.setsErrno()) {
      return checked(call(linked, arguments), 0, arguments);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(CAPTURE);
      Object result = call(linked, withFirst(state, arguments));
      return checked(result, state.get(JAVA_INT, ERRNO_OFFSET), arguments);
    }
  }

  private Object checked(Object result, int errno, Object[] arguments) throws VerbsException {
    boolean failed =
        switch (failure) {
          case NONE -> false;
          case NULL_WITH_ERRNO -> ((MemorySegment) result).address() == 0;
          case ERROR_NUMBER -> (int) result != 0;
          case MINUS_ONE_WITH_ERRNO -> ((Number) result).longValue() == -1;
        };
    if (failed) {
      // rdma-core's own wrappers return -1 now and then where the manual page says an error number.
      int number = failure == Failure.ERROR_NUMBER ? Math.abs((int) result) : errno;
      throw new VerbsException(describe(arguments), number, Errno.text(number));
    }
    return result;
  }

  private static Object call(MethodHandle linked, Object[] arguments) {
    try {
      return (Object) linked.invokeExact(arguments);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("a C function throws nothing", e);
    }
  }

  /** Linking twice does no harm, and costs less than a lock in each call. */
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
        Linker.nativeLinker().downcallHandle(source.address(), descriptor, options);
    return exact
        .asSpreader(Object[].class, exact.type().parameterCount())
        .asType(MethodType.methodType(Object.class, Object[].class));
  }

  private static Linker.Option[] withErrno(Linker.Option[] options) {
    Linker.Option[] all = Arrays.copyOf(options, options.length + 1);
    all[options.length] = Linker.Option.captureCallState("errno");
    return all;
  }

  private static Object[] withFirst(Object first, Object[] rest) {
    Object[] all = new Object[rest.length + 1];
    all[0] = first;
    System.arraycopy(rest, 0, all, 1, rest.length);
    return all;
  }

  /** The call, without keys. */
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

  /** {@code int f(pointer)}: the commonest form. */
  public static final FunctionDescriptor INT_OF_POINTER = FunctionDescriptor.of(JAVA_INT, ADDRESS);

  /** {@code int f(pointer, pointer)}. */
  public static final FunctionDescriptor INT_OF_POINTERS =
      FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS);

  /** {@code pointer f(pointer)}. */
  public static final FunctionDescriptor POINTER_OF_POINTER =
      FunctionDescriptor.of(ADDRESS, ADDRESS);

  /** {@code pointer f(pointer, pointer)}. */
  public static final FunctionDescriptor POINTER_OF_POINTERS =
      FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS);

  /** {@code pointer f(int)}. */
  public static final FunctionDescriptor POINTER_OF_INT = FunctionDescriptor.of(ADDRESS, JAVA_INT);

  /** {@code void f(pointer)}. */
  public static final FunctionDescriptor VOID_OF_POINTER = FunctionDescriptor.ofVoid(ADDRESS);
}
