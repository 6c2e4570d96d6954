// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * Helper for code that accesses the memory of mapped files, as map outputs and the software
 * provider do. Any thread.
 */
public final class MappedMemory {
  private MappedMemory() {}

  /**
   * Makes a pending InternalError surface here. The JVM raises one if mapped memory cannot be read,
   * because the file has become shorter or its disk fails. Compiled code continues after such a
   * fault, until its thread checks for pending errors. It does so at the latest on return from a
   * native method.
   */
  public static void awaitFault() {
    Thread.holdsLock(MappedMemory.class);
  }
}
