// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DriverRuntimeTest {
  /** Unregistering may take long, and must not keep other shuffles from being registered. */
  @Test
  void aShuffleIsUnregisteredWithoutTheLockThatRegisteringNeeds() throws Exception {
    DriverRuntime driverSide = new DriverRuntime();
    synchronized (driverSide) {
      CompletableFuture.runAsync(() -> driverSide.unregister(1), Thread::startVirtualThread)
          .get(10, SECONDS);
    }
  }
}
