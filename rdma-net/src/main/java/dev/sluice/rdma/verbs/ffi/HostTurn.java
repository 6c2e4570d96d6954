package dev.sluice.rdma.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.sluice.rdma.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A number that nobody else on this host has while it is open, so that processes take what there
 * are several of in turn: the first abstract socket's name that is free (unix(7)), which the kernel
 * gives back with the process. Any thread; closed by whoever took it.
 *
 * <p>Names are a network namespace's. Where each container has one, its own number tells them
 * apart, by chance.
 */
public final class HostTurn implements AutoCloseable {
  private static final FunctionDescriptor OF_THREE =
      FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final NativeFunction SOCKET =
      NativeFunction.exported(
          NativeLibrary.LIBC,
          "socket(domain, type, protocol)",
          Failure.MINUS_ONE_WITH_ERRNO,
          OF_THREE);
  private static final NativeFunction BIND =
      NativeFunction.exported(
          NativeLibrary.LIBC,
          "bind(sockfd, addr, addrlen)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));

  private static final short AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int EADDRINUSE = 98;
  private static final int MOST = 4096;

  private final int fd;
  private final int number;
  private boolean closed;

  private HostTurn(int fd, int number) {
    this.fd = fd;
    this.number = number;
  }

  /**
   * @param what is taken in turn: a name, for those of others do not count
   * @throws VerbsException where this process may have no such socket
   */
  public static HostTurn take(String what) throws VerbsException {
    int fd = SOCKET.call((int) AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
    try {
      int turn = 0;
      while (!bind(fd, what, turn)) {
        turn++;
      }
      return new HostTurn(fd, namespace() + turn & Integer.MAX_VALUE);
    } catch (VerbsException e) {
      FileDescriptors.close(fd);
      throw e;
    }
  }

  /**
   * @return whether nobody has it
   */
  private static boolean bind(int fd, String what, int turn) throws VerbsException {
    // After the family a name that begins with 0, and goes on to the address's end.
    byte[] name = ("\0sluice-" + what + "-" + turn).getBytes(US_ASCII);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(Short.BYTES + name.length, Short.BYTES);
      address.set(JAVA_SHORT, 0, AF_UNIX);
      address.asSlice(Short.BYTES).copyFrom(MemorySegment.ofArray(name));
      BIND.call(fd, address, (int) address.byteSize());
      return true;
    } catch (VerbsException e) {
      if (e.errno() != EADDRINUSE || turn == MOST) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Of this process's network namespace, by its inode number (namespaces(7)); 0 where that is
   * hidden. Mixed, as a container has so many namespaces that these may all be even.
   */
  private static int namespace() {
    try {
      long inode = (Long) Files.getAttribute(Path.of("/proc/self/ns/net"), "unix:ino");
      return Long.hashCode(inode * 0x9E37_79B9_7F4A_7C15L);
    } catch (IOException e) {
      return 0;
    }
  }

  /** Not negative; those of one network namespace begin at any number, and follow one another. */
  public int number() {
    return number;
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      FileDescriptors.close(fd);
    } catch (VerbsException e) {
      // The name is free whatever it says (close(2)).
    }
  }
}
