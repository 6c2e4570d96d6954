// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A wait ends when a descriptor is ready or at the deadline; a signal does not end it. */
@Timeout(60)
class FileDescriptorsTest {
  private static final int EAGAIN = 11;
  private static final long LONG_MS = 60_000;

  /** The JVM's own handler ignores this signal, and a wait that it interrupts gets EINTR. */
  private static final int SIGPIPE = 13;

  @Test
  void withoutReadinessAWaitEndsAtItsDeadline() throws Exception {
    try (EventFd event = new EventFd()) {
      assertThat(FileDescriptors.awaitReadable(0, event.fd())).isZero();
      assertThat(FileDescriptors.awaitReadable(10, event.fd())).isZero();
    }
  }

  @Test
  void theResultSaysWhichDescriptorsAreReady() throws Exception {
    try (EventFd first = new EventFd();
        EventFd second = new EventFd();
        EventFd third = new EventFd()) {
      int[] all = {first.fd(), second.fd(), third.fd()};
      second.signal();
      assertThat(FileDescriptors.awaitReadable(LONG_MS, all)).isEqualTo(0b010);
      first.signal();
      third.signal();
      second.clear();
      assertThat(FileDescriptors.awaitReadable(LONG_MS, all)).isEqualTo(0b101);
    }
  }

  @Test
  void aFileThatIsMissingIsCreatedAndOpened(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("domain");
    int fd = FileDescriptors.open(file);
    assertThat(file).exists();
    assertThat(FileDescriptors.awaitReadable(0, fd)).isEqualTo(1);
    FileDescriptors.close(fd);
    assertThatThrownBy(() -> FileDescriptors.open(directory.resolve("no/such")))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.ENOENT));
  }

  @Test
  void aSignalOfAnotherThreadEndsAWait() throws Exception {
    try (EventFd event = new EventFd();
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Future<Long> waiting =
          thread.submit(() -> FileDescriptors.awaitReadable(LONG_MS, event.fd()));
      event.signal();
      assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }
  }

  @Test
  void anInterruptedSystemCallGoesOnWaiting() throws Exception {
    NativeFunction gettid = libc("int gettid()", Failure.MINUS_ONE_WITH_ERRNO);
    NativeFunction tgkill =
        libc("int tgkill(int tgid, int tid, int sig)", Failure.MINUS_ONE_WITH_ERRNO);
    int process = (int) ProcessHandle.current().pid();
    try (EventFd event = new EventFd();
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      CompletableFuture<Integer> id = new CompletableFuture<>();
      Future<Long> waiting =
          thread.submit(
              () -> {
                id.complete(gettid.call());
                return FileDescriptors.awaitReadable(LONG_MS, event.fd());
              });
      int tid = id.get(30, TimeUnit.SECONDS);
      for (int i = 0; i < 3; i++) {
        awaitSleeping(tid);
        tgkill.call(process, tid, SIGPIPE);
      }
      awaitSleeping(tid);
      assertThat(waiting.isDone()).isFalse();
      event.signal();
      assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }
  }

  /** Waits until the kernel reports that a thread sleeps in a system call. */
  private static void awaitSleeping(int tid) throws Exception {
    Path stat = Path.of("/proc/self/task/" + tid + "/stat");
    while (!Files.readString(stat).contains(") S ")) {
      Thread.onSpinWait();
    }
  }

  @Test
  void aDescriptorThatIsNotOpenIsReadyAtOnce() throws Exception {
    assertThat(FileDescriptors.awaitReadable(LONG_MS, 1_000_000)).isEqualTo(1);
  }

  @Test
  void aNonBlockingDescriptorDoesNotWait() throws Exception {
    NativeFunction pipe = libc("int pipe(ptr pipefd)", Failure.MINUS_ONE_WITH_ERRNO);
    NativeFunction read =
        libc("long read(int fd, ptr buf, long count)", Failure.MINUS_ONE_WITH_ERRNO);
    NativeFunction close = libc("int close(int fd)", Failure.MINUS_ONE_WITH_ERRNO);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ends = arena.allocate(2 * JAVA_INT.byteSize(), JAVA_INT.byteAlignment());
      pipe.call(ends);
      int end = ends.getAtIndex(JAVA_INT, 0);
      FileDescriptors.setNonBlocking(end);
      assertThatThrownBy(() -> read.invoke(end, arena.allocate(1), 1L))
          .asInstanceOf(type(VerbsException.class))
          .extracting(VerbsException::errno)
          .isEqualTo(EAGAIN);
      close.call(end);
      close.call(ends.getAtIndex(JAVA_INT, 1));
    }
  }

  @Test
  void aSignalThatWasClearedIsGoneHoweverOftenItWasGiven() throws Exception {
    try (EventFd event = new EventFd()) {
      event.clear();
      event.signal();
      event.signal();
      event.clear();
      assertThat(FileDescriptors.awaitReadable(0, event.fd())).isZero();
    }
  }

  @Test
  void aClosedEventDoesNothing() throws Exception {
    EventFd event = new EventFd();
    event.close();
    event.close();
    event.signal();
    event.clear();
  }

  private static NativeFunction libc(String declaration, Failure failure) {
    return NativeFunction.exported(NativeLibrary.LIBC, declaration, failure);
  }
}
