package dev.sluice.rdma.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** C functions are called, and report their errors, as their manual pages say. */
class NativeFunctionTest {
  private static final int EBADF = 9;
  private static final FunctionDescriptor INT_OF_INT = FunctionDescriptor.of(JAVA_INT, JAVA_INT);

  @Test
  void minusOneIsAnErrorWithErrno() {
    NativeFunction close = libc("close(fd)", Failure.MINUS_ONE_WITH_ERRNO, INT_OF_INT);
    assertThatThrownBy(() -> close.call(-7))
        .hasMessage("close(fd=-7): Bad file descriptor (errno 9)")
        .asInstanceOf(type(VerbsException.class))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(EBADF));
  }

  @Test
  void minusOneOfAFunctionThatReturnsLongIsAnErrorToo() {
    NativeFunction read =
        libc(
            "read(fd, buf, count)",
            Failure.MINUS_ONE_WITH_ERRNO,
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    assertErrno(EBADF, () -> read.invoke(-1, MemorySegment.ofAddress(0x10), 1L));
    assertThatThrownBy(() -> read.invoke(-1, MemorySegment.ofAddress(0x10), 1L))
        .hasMessageStartingWith("read(fd=-1, buf=0x10, count=1): ");
  }

  @Test
  void nullIsAnErrorWithErrno() throws Exception {
    NativeFunction opendir =
        libc("opendir(name)", Failure.NULL_WITH_ERRNO, NativeFunction.POINTER_OF_POINTER);
    NativeFunction closedir =
        libc("closedir(dirp)", Failure.MINUS_ONE_WITH_ERRNO, NativeFunction.INT_OF_POINTER);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment missing = arena.allocateFrom("/there/is/no/such/folder");
      assertErrno(VerbsException.ENOENT, () -> opendir.callForPointer(missing));
      MemorySegment root = opendir.callForPointer(arena.allocateFrom("/"));
      assertThat(root.address()).isNotZero();
      closedir.call(root);
    }
  }

  @Test
  void anErrorNumberIsAnError() {
    NativeFunction memalign =
        libc(
            "posix_memalign(memptr, alignment, size)",
            Failure.ERROR_NUMBER,
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ADDRESS);
      assertErrno(VerbsException.EINVAL, () -> memalign.call(result, 3L, 8L));
    }
  }

  @Test
  void aNegativeErrorNumberIsTheSameError() {
    NativeFunction atoi = libc("atoi(nptr)", Failure.ERROR_NUMBER, NativeFunction.INT_OF_POINTER);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment minus22 = arena.allocateFrom("-22");
      assertErrno(VerbsException.EINVAL, () -> atoi.call(minus22));
    }
  }

  @Test
  void whatCannotFailReturnsItsResult() throws Exception {
    assertThat(libc("abs(j)", Failure.NONE, INT_OF_INT).call(-5)).isEqualTo(5);
    assertThat(libc("toupper(c)", Failure.NONE, INT_OF_INT).call(-1)).isEqualTo(-1);
  }

  @Test
  void aFunctionIsCalledByItsPointer() throws Exception {
    MemorySegment pointer = NativeLibrary.LIBC.symbol("abs");
    NativeFunction abs = NativeFunction.at(pointer, "f(j)", Failure.ERROR_NUMBER, INT_OF_INT);
    assertThat(abs.call(0)).isZero();
    assertThatThrownBy(() -> abs.call(-22)).hasMessage("f(j=-22): Invalid argument (errno 22)");
  }

  @Test
  void aFunctionThatTheLibraryLacksIsNotImplemented() {
    NativeFunction missing = libc("no_such_function(fd)", Failure.NONE, INT_OF_INT);
    assertThatThrownBy(() -> missing.call(1))
        .hasMessageContaining("no_such_function(fd=1): libc of this machine is too old")
        .asInstanceOf(type(VerbsException.class))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(VerbsException.ENOSYS));
  }

  @Test
  void keysAreNotPrinted() {
    FunctionDescriptor two = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT);
    assertThatThrownBy(
            () -> libc("dup2(fd, rkey)", Failure.MINUS_ONE_WITH_ERRNO, two).call(-1, 4711))
        .hasMessageStartingWith("dup2(fd=-1): ");
    assertThatThrownBy(
            () -> libc("dup2(fd, lkey)", Failure.MINUS_ONE_WITH_ERRNO, two).call(-1, 4711))
        .hasMessageNotContaining("4711");
  }

  @Test
  void eachArgumentHasAName() {
    assertThatThrownBy(() -> libc("close()", Failure.NONE, INT_OF_INT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("close() does not name all of its arguments");
  }

  @Test
  void eachThreadHasItsOwnError() throws Exception {
    NativeFunction close = libc("close(fd)", Failure.MINUS_ONE_WITH_ERRNO, INT_OF_INT);
    NativeFunction opendir =
        libc("opendir(name)", Failure.NULL_WITH_ERRNO, NativeFunction.POINTER_OF_POINTER);
    try (ExecutorService threads = Executors.newFixedThreadPool(2);
        Arena arena = Arena.ofShared()) {
      MemorySegment missing = arena.allocateFrom("/there/is/no/such/folder");
      Future<?> closing = threads.submit(() -> repeat(EBADF, () -> close.call(-1)));
      Future<?> opening =
          threads.submit(
              () -> repeat(VerbsException.ENOENT, () -> opendir.callForPointer(missing)));
      closing.get(30, TimeUnit.SECONDS);
      opening.get(30, TimeUnit.SECONDS);
    }
  }

  private static void repeat(int errno, ThrowingCallable call) {
    for (int i = 0; i < 1000; i++) {
      assertErrno(errno, call);
    }
  }

  private static NativeFunction libc(
      String prototype, Failure failure, FunctionDescriptor descriptor) {
    return NativeFunction.exported(NativeLibrary.LIBC, prototype, failure, descriptor);
  }

  private static void assertErrno(int errno, ThrowingCallable call) {
    assertThatThrownBy(call)
        .asInstanceOf(type(VerbsException.class))
        .extracting(VerbsException::errno)
        .isEqualTo(errno);
  }
}
