// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Size of a page, in which the kernel maps and pins memory. It has 4 KiB on x86-64; kernels for
 * aarch64 are also built with 16 or 64 KiB. Any thread.
 */
public final class PageSize {
  /** Values that the kernel gives each process: pairs of type and value (getauxval(3)). */
  private static final Path AUXILIARY_VECTOR = Path.of("/proc/self/auxv");

  private static final long AT_PAGESZ = 6;
  private static final int MOST_COMMON = 4096;

  /** Size of a page of this machine, a power of two; 4 KiB if the kernel does not tell it. */
  public static final int BYTES = ofKernel();

  private PageSize() {}

  /** Calls no C function: those need native access, which an executor may lack. */
  private static int ofKernel() {
    try {
      LongBuffer pairs =
          ByteBuffer.wrap(Files.readAllBytes(AUXILIARY_VECTOR))
              .order(ByteOrder.nativeOrder())
              .asLongBuffer();
      while (pairs.remaining() > 1) {
        long type = pairs.get();
        long value = pairs.get();
        if (type == AT_PAGESZ) {
          return Math.toIntExact(value);
        }
      }
      return MOST_COMMON;
    } catch (IOException _) {
      return MOST_COMMON;
    }
  }

  /** Returns the bytes of the whole pages that {@code bytes} take. */
  public static long roundUp(long bytes) {
    return (bytes + BYTES - 1) & -BYTES;
  }
}
