// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Calls of C functions, and their errors, follow the manual pages. */
class NativeFunctionTest {
  private static final int EBADF = 9;

  @Test
  void minusOneIsAnErrorWithErrno() {
    NativeFunction close = libc("int close(int fd)", Failure.MINUS_ONE_WITH_ERRNO);
    assertThatThrownBy(() -> close.call(-7))
        .hasMessage("close(fd=-7): Bad file descriptor (errno 9)")
        .asInstanceOf(type(VerbsException.class))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(EBADF));
  }

  @Test
  void minusOneOfAFunctionThatReturnsLongIsAnErrorToo() {
    NativeFunction read =
        libc("long read(int fd, ptr buf, long count)", Failure.MINUS_ONE_WITH_ERRNO);
    assertErrno(EBADF, () -> read.invoke(-1, MemorySegment.ofAddress(0x10), 1L));
    assertThatThrownBy(() -> read.invoke(-1, MemorySegment.ofAddress(0x10), 1L))
        .hasMessageStartingWith("read(fd=-1, buf=0x10, count=1): ");
  }

  @Test
  void nullIsAnErrorWithErrno() throws Exception {
    NativeFunction opendir = libc("ptr opendir(ptr name)", Failure.NULL_WITH_ERRNO);
    NativeFunction closedir = libc("int closedir(ptr dirp)", Failure.MINUS_ONE_WITH_ERRNO);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment missing = CString.allocate(arena, "/there/is/no/such/folder");
      assertErrno(VerbsException.ENOENT, () -> opendir.callForPointer(missing));
      MemorySegment root = opendir.callForPointer(CString.allocate(arena, "/"));
      assertThat(root.address()).isNotZero();
      closedir.call(root);
    }
  }

  @Test
  void anErrorNumberIsAnError() {
    NativeFunction memalign =
        libc("int posix_memalign(ptr memptr, long alignment, long size)", Failure.ERROR_NUMBER);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ADDRESS);
      assertErrno(VerbsException.EINVAL, () -> memalign.call(result, 3L, 8L));
    }
  }

  @Test
  void aNegativeErrorNumberIsTheSameError() {
    NativeFunction atoi = libc("int atoi(ptr nptr)", Failure.ERROR_NUMBER);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment minus22 = CString.allocate(arena, "-22");
      assertErrno(VerbsException.EINVAL, () -> atoi.call(minus22));
    }
  }

  @Test
  void functionsThatCannotFailReturnTheirResult() throws Exception {
    assertThat(libc("int abs(int j)", Failure.NONE).call(-5)).isEqualTo(5);
    assertThat(libc("int toupper(int c)", Failure.NONE).call(-1)).isEqualTo(-1);
  }

  @Test
  void aFunctionIsCalledByItsPointer() throws Exception {
    MemorySegment pointer = NativeLibrary.LIBC.symbol("abs");
    NativeFunction abs = NativeFunction.at(pointer, "int f(int j)", Failure.ERROR_NUMBER);
    assertThat(abs.call(0)).isZero();
    assertThatThrownBy(() -> abs.call(-22)).hasMessage("f(j=-22): Invalid argument (errno 22)");
  }

  @Test
  void aFunctionThatTheLibraryLacksIsNotImplemented() {
    NativeFunction missing = libc("int no_such_function(int fd)", Failure.NONE);
    assertThatThrownBy(() -> missing.call(1))
        .hasMessageContaining("no_such_function(fd=1): libc on this machine is too old")
        .asInstanceOf(type(VerbsException.class))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(VerbsException.ENOSYS));
  }

  @Test
  void keysAreNotPrinted() {
    assertThatThrownBy(
            () -> libc("int dup2(int fd, int rkey)", Failure.MINUS_ONE_WITH_ERRNO).call(-1, 4711))
        .hasMessageStartingWith("dup2(fd=-1): ");
    assertThatThrownBy(
            () -> libc("int dup2(int fd, int lkey)", Failure.MINUS_ONE_WITH_ERRNO).call(-1, 4711))
        .hasMessageNotContaining("4711");
  }

  @Test
  void eachArgumentHasAName() {
    assertThatThrownBy(() -> libc("int close(fd)", Failure.NONE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("int close(fd) has no type for the parameter fd");
  }

  @Test
  void eachThreadHasItsOwnError() throws Exception {
    NativeFunction close = libc("int close(int fd)", Failure.MINUS_ONE_WITH_ERRNO);
    NativeFunction opendir = libc("ptr opendir(ptr name)", Failure.NULL_WITH_ERRNO);
    try (ExecutorService threads = Executors.newFixedThreadPool(2);
        Arena arena = Arena.ofShared()) {
      MemorySegment missing = CString.allocate(arena, "/there/is/no/such/folder");
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

  @Test
  void heapMemoryHasTheBytesThatCWrote() throws Exception {
    MemorySegment memory = NativeFunction.HEAP.allocate(12, 8);
    libc("ptr memset(ptr s, int c, long n)", Failure.NONE).invoke(memory, 7, 11L);
    assertThat(memory.toArray(JAVA_BYTE)).containsExactly(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0);
  }

  private static NativeFunction libc(String declaration, Failure failure) {
    return NativeFunction.exported(NativeLibrary.LIBC, declaration, failure);
  }

  private static void assertErrno(int errno, ThrowingCallable call) {
    assertThatThrownBy(call)
        .asInstanceOf(type(VerbsException.class))
        .extracting(VerbsException::errno)
        .isEqualTo(errno);
  }
}
