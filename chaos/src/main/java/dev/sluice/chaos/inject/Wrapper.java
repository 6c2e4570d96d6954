// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;

/**
 * Wraps an object of Sluice's RDMA interface, so that a class of the harness writes only the
 * methods that it changes. {@link ChaosDevice} wraps the device and all that is created from it.
 * Threads are those of the wrapped object. A call costs some tens of nanoseconds more. A wrapper
 * that is passed to a wrapped object must be unwrapped first.
 */
final class Wrapper implements InvocationHandler {
  /** Marks a method that replaces the one of the interface with its name and parameters. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.METHOD)
  @interface Replaces {}

  private final Object wrapped;
  private final Object changes;

  /** Methods of {@link #changes} by the method of the interface that each replaces. */
  private final Map<Method, Method> changed = new HashMap<>();

  private Wrapper(Class<?> type, Object wrapped, Object changes) {
    this.wrapped = wrapped;
    this.changes = changes;
    for (Method own : changes.getClass().getDeclaredMethods()) {
      if (own.isAnnotationPresent(Replaces.class)) {
        own.setAccessible(true);
        changed.put(replaced(type, own), own);
      }
    }
  }

  private static Method replaced(Class<?> type, Method own) {
    try {
      return type.getMethod(own.getName(), own.getParameterTypes());
    } catch (NoSuchMethodException e) {
      throw new IllegalArgumentException(own + " replaces no method of " + type, e);
    }
  }

  /**
   * Returns an object with the methods of {@code wrapped}, except those that {@code changes}
   * replaces.
   *
   * @param type an interface of {@code wrapped}
   */
  static <T> T of(Class<T> type, T wrapped, Object changes) {
    return type.cast(
        Proxy.newProxyInstance(
            Wrapper.class.getClassLoader(),
            new Class<?>[] {type},
            new Wrapper(type, wrapped, changes)));
  }

  /** Returns the object that {@link #of} has wrapped. */
  static <T> T unwrap(Class<T> type, T wrapper) {
    return type.cast(((Wrapper) Proxy.getInvocationHandler(wrapper)).wrapped);
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (method.getDeclaringClass() == Object.class && method.getName().equals("equals")) {
      return proxy == arguments[0];
    }
    Method own = changed.get(method);
    try {
      return own == null ? method.invoke(wrapped, arguments) : own.invoke(changes, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
