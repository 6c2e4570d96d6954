// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ffi.NativeFunction;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntSupplier;

/**
 * A number that no other process of this host has while it is open. Processes use it to take
 * equivalent resources, such as ports, in turn. The number is that of the first free name of an
 * abstract socket (unix(7)), which the kernel frees when the process ends. Any thread; closed by
 * the caller of {@link #take}.
 *
 * <p>Names are per network namespace. Where each container has its own namespace, a hash of the
 * namespace's number spreads the containers by chance.
 */
public final class HostSlot implements AutoCloseable {
  private static final NativeFunction SOCKET =
      NativeFunction.systemCall("int socket(int domain, int type, int protocol)");
  private static final NativeFunction BIND =
      NativeFunction.systemCall("int bind(int sockfd, ptr addr, int addrlen)");

  private static final short AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int EADDRINUSE = 98;

  /** Last number that is tried. */
  private static final int MOST = 4096;

  private final int fd;
  private final int number;
  private boolean closed;

  private HostSlot(int fd, int number) {
    this.fd = fd;
    this.number = number;
  }

  /**
   * @param what name of the resources; turns under other names do not count
   * @throws VerbsException if this process may not have such a socket
   */
  public static HostSlot take(String what) throws VerbsException {
    return take(what, HostSlot::namespace);
  }

  /**
   * Takes a number of a network namespace.
   *
   * @param namespace returns the namespace's hash
   */
  static HostSlot take(String what, IntSupplier namespace) throws VerbsException {
    int fd = SOCKET.call((int) AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
    try {
      int turn = 0;
      while (!bind(fd, what, turn)) {
        turn++;
      }
      return new HostSlot(fd, namespace.getAsInt() + turn & Integer.MAX_VALUE);
    } catch (VerbsException | RuntimeException | Error e) {
      FileDescriptors.close(fd);
      throw e;
    }
  }

  /**
   * @return true if the name was free
   */
  private static boolean bind(int fd, String what, int turn) throws VerbsException {
    // The family is followed by a name that begins with 0 and extends to the end of the address.
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
   * Hash of the inode number of this process's network namespace (namespaces(7)); 0 if that is
   * hidden. Hashed because a container has several namespaces, so that the numbers of the network
   * namespaces may all be even.
   */
  private static int namespace() {
    try {
      long inode = (Long) Files.getAttribute(Path.of("/proc/self/ns/net"), "unix:ino");
      return Long.hashCode(inode * 0x9E37_79B9_7F4A_7C15L);
    } catch (IOException e) {
      return 0;
    }
  }

  /** Not negative. Numbers of one network namespace are consecutive, from any start. */
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
      // The name is free in spite of an error (close(2)).
    }
  }
}
