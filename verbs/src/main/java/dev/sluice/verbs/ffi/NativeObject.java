// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An object that a C library created and that a parent owns. Closing it first closes its children,
 * then calls the C function that destroys it. Any thread. C demands that no other thread is inside
 * a call with the object while it is closed; its users ensure that.
 */
public abstract class NativeObject implements AutoCloseable {
  private final String name;
  private volatile @Nullable NativeObject parent;
  private final MemorySegment pointer;
  private final @Nullable Destroyer destroyer;
  private final int rank;
  private final Set<NativeObject> children = new LinkedHashSet<>();
  private volatile boolean closed;

  /** Destroys an object in C. */
  @FunctionalInterface
  public interface Destroyer {
    void destroy(MemorySegment pointer) throws VerbsException;
  }

  /**
   * @param name kind of the object, for messages
   * @param parent the owner; null for a root
   * @param pointer from C; as long as the structure if members are read
   * @param destroyer destroys the object; null if that is left to C or to {@link #destroy}
   * @param rank closing order of siblings: lower ranks first, so that users close before used
   *     objects
   */
  protected NativeObject(
      String name,
      @Nullable NativeObject parent,
      MemorySegment pointer,
      @Nullable Destroyer destroyer,
      int rank) {
    this.name = name;
    this.parent = parent;
    this.pointer = pointer;
    this.destroyer = destroyer;
    this.rank = rank;
  }

  /** Returns the pointer for C, by one volatile read. Throws EINVAL after {@link #close}. */
  public final MemorySegment pointer() throws VerbsException {
    if (isClosed()) {
      throw VerbsException.invalid("use of " + this, "it is closed");
    }
    return pointer;
  }

  /**
   * Returns the C structure, for methods that declare no exception.
   *
   * @throws IllegalStateException after {@link #close}
   */
  protected final MemorySegment struct() {
    if (isClosed()) {
      throw new IllegalStateException(this + " is closed");
    }
    return pointer;
  }

  /**
   * True once the object is closed. Takes no lock: a C function that destroys an object may wait
   * for another thread that calls this method.
   */
  public final boolean isClosed() {
    return closed;
  }

  /** Calls the C function that destroys the object. */
  protected void destroy(MemorySegment pointer) throws VerbsException {
    if (destroyer != null) {
      destroyer.destroy(pointer);
    }
  }

  /**
   * Closes the children, lower ranks first and younger ones before older ones, then destroys this
   * object. The object stays open if C refuses, for example with EBUSY. Idempotent.
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
    NativeObject owner = parent;
    if (owner != null) {
      owner.forget(this);
    }
  }

  private synchronized List<NativeObject> childrenInOrder() {
    List<NativeObject> youngestFirst = new ArrayList<>(children).reversed();
    return youngestFirst.stream().sorted(Comparator.comparingInt(child -> child.rank)).toList();
  }

  /**
   * Makes this object the owner of a child that was just created, with it or null as parent.
   *
   * @throws VerbsException EINVAL if this object was closed meanwhile; the child is destroyed
   */
  protected final <T extends NativeObject> T adopt(T child) throws VerbsException {
    synchronized (this) {
      if (!closed) {
        children.add(child);
        return child;
      }
    }
    child.close();
    throw VerbsException.invalid("creation of " + child, this + " is closed");
  }

  /** Moves this object to another owner; null for none: the caller closes this object. */
  protected final void moveTo(@Nullable NativeObject owner) throws VerbsException {
    NativeObject former = parent;
    parent = owner;
    if (owner != null) {
      owner.adopt(this);
    }
    if (former != null) {
      former.forget(this);
    }
  }

  /** Returns the failure of a function that was called with this object. */
  protected final VerbsException failure(String function, int errno, String reason) {
    return new VerbsException(function + "(" + this + ")", errno, reason);
  }

  private synchronized void forget(NativeObject child) {
    children.remove(child);
  }

  @Override
  public String toString() {
    return name + " 0x" + Long.toHexString(pointer.address());
  }
}
