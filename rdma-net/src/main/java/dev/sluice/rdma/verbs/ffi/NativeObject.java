package dev.sluice.rdma.verbs.ffi;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Something that a C library made, and that its parent owns: closing it first closes its children,
 * then calls the C function that destroys it. Any thread; whoever uses it makes sure that no thread
 * is inside a call with it while it is closed, as C demands.
 */
public abstract class NativeObject implements AutoCloseable {
  private final String name;
  private final NativeObject parent;
  private final MemorySegment pointer;
  private final Set<NativeObject> children = new LinkedHashSet<>();
  private volatile boolean closed;

  /**
   * @param name what it is, for messages
   * @param parent who owns it; null for a root
   * @param pointer from C
   */
  protected NativeObject(String name, NativeObject parent, MemorySegment pointer) {
    this.name = name;
    this.parent = parent;
    this.pointer = pointer;
  }

  /**
   * The pointer for C functions.
   *
   * @throws VerbsException EINVAL after {@link #close}
   */
  public final MemorySegment pointer() throws VerbsException {
    if (isClosed()) {
      throw new VerbsException("use of " + this, VerbsException.EINVAL, "it is closed");
    }
    return pointer;
  }

  /** Without a lock: C functions that destroy wait for others that ask this. */
  public final boolean isClosed() {
    return closed;
  }

  /** Children of a lower rank are closed first: what uses something goes before what is used. */
  protected int rank() {
    return 0;
  }

  /** Calls the C function that destroys it. */
  protected abstract void destroy(MemorySegment pointer) throws VerbsException;

  /**
   * Closes the children, those of a lower rank and the younger ones first, and destroys this. It
   * stays open when C refuses, for example with EBUSY. Idempotent.
   */
  @Override
  public final void close() throws VerbsException {
    for (NativeObject child : childrenInOrder()) {
      child.close();
    }
    synchronized (this) {
      if (closed) {
        return;
      }
      destroy(pointer);
      closed = true;
    }
    if (parent != null) {
      parent.forget(this);
    }
  }

  private synchronized List<NativeObject> childrenInOrder() {
    List<NativeObject> youngestFirst = new ArrayList<>(children).reversed();
    return youngestFirst.stream().sorted(Comparator.comparingInt(NativeObject::rank)).toList();
  }

  /**
   * Makes this the owner of what was just created with it as parent.
   *
   * @throws VerbsException EINVAL if this was closed meanwhile; the child is destroyed
   */
  protected final <T extends NativeObject> T adopt(T child) throws VerbsException {
    synchronized (this) {
      if (!closed) {
        children.add(child);
        return child;
      }
    }
    child.close();
    throw new VerbsException("creation of " + child, VerbsException.EINVAL, this + " is closed");
  }

  private synchronized void forget(NativeObject child) {
    children.remove(child);
  }

  @Override
  public String toString() {
    return name + " 0x" + Long.toHexString(pointer.address());
  }
}
