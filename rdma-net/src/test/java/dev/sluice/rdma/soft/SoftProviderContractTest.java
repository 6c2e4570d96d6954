// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.contract.CompletionQueueContract;
import dev.sluice.rdma.contract.DeviceContract;
import dev.sluice.rdma.contract.ErrorContract;
import dev.sluice.rdma.contract.MemoryRegionContract;
import dev.sluice.rdma.contract.ReadContract;
import dev.sluice.rdma.contract.ScanContract;
import dev.sluice.rdma.contract.StateMachineContract;
import dev.sluice.rdma.contract.Subject;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import org.junit.jupiter.api.Nested;

/** Runs the contract of all providers on the software provider. */
class SoftProviderContractTest {
  private static final Subject SOFT =
      tracker -> new SoftProvider(SoftOptions.DEFAULT.with(o -> o.leaks = tracker));

  @Nested
  class SoftDevice extends DeviceContract {
    @Override
    protected Subject subject() {
      return SOFT;
    }
  }

  @Nested
  class SoftMemoryRegion extends MemoryRegionContract {
    @Override
    protected Subject subject() {
      return SOFT;
    }
  }

  @Nested
  class SoftRead extends ReadContract {
    @Override
    protected Subject subject() {
      return SOFT;
    }
  }

  @Nested
  class SoftScan extends ScanContract {
    @Override
    protected Subject subject() {
      return SOFT;
    }
  }

  @Nested
  class SoftError extends ErrorContract {
    @Override
    protected Subject subject() {
      return SOFT;
    }
  }

  @Nested
  class SoftCompletionQueue extends CompletionQueueContract {
    @Override
    protected Subject subject() {
      return SOFT;
    }
  }

  @Nested
  class SoftStateMachine extends StateMachineContract {
    @Override
    protected Subject subject() {
      return SOFT;
    }
  }
}
