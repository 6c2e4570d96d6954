// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import com.esotericsoftware.kryo.Kryo;
import org.apache.spark.serializer.KryoRegistrator;

/** Kryo registrator of the application's own jar. Prints the thread that makes each Kryo. */
public final class ApplicationRegistrator implements KryoRegistrator {
  static final String USED = "KRYO MADE BY";

  @Override
  public void registerClasses(Kryo kryo) {
    System.err.println(USED + " " + Thread.currentThread().getName());
  }
}
