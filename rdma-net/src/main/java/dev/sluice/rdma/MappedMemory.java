package dev.sluice.rdma;

/** What who touches the memory of mapped files has to know. Any thread. */
public final class MappedMemory {
  private MappedMemory() {}

  /**
   * Lets the InternalError of a fault, of a file that has become shorter or a disk that fails, come
   * here: compiled code goes on after one until its thread next looks for such errors, which it
   * does at the latest when it returns from a native method.
   */
  public static void awaitFault() {
    Thread.holdsLock(MappedMemory.class);
  }
}
