// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Provider;
import dev.sluice.rdma.contract.CompletionQueueContract;
import dev.sluice.rdma.contract.Deviation;
import dev.sluice.rdma.contract.DeviceContract;
import dev.sluice.rdma.contract.ErrorContract;
import dev.sluice.rdma.contract.MemoryRegionContract;
import dev.sluice.rdma.contract.ReadContract;
import dev.sluice.rdma.contract.ScanContract;
import dev.sluice.rdma.contract.StateMachineContract;
import dev.sluice.rdma.contract.Subject;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;

/** Runs the contract of all providers on a verbs device of this machine. */
@NeedsRdmaDevice
class VerbsProviderContractTest {

  /** The way in which the provider connects. */
  ConnectMode connect() {
    return ConnectMode.CONTROL;
  }

  private record DeviceOfThisMachine(ConnectMode connect) implements Subject {
    @Override
    public Provider provider(LeakTracker tracker) {
      return new VerbsProvider(
          VerbsOptions.DEFAULT.with(
              o -> {
                o.connect = connect;
                o.leaks = tracker;
              }));
    }

    @Override
    public InetAddress localAddress() {
      return RdmaDevices.address().orElseThrow();
    }

    /** All known deviations are those of the kernel's soft-RoCE device. */
    @Override
    public Set<Deviation> deviations() {
      return RdmaDevices.isSoftRoce() ? EnumSet.allOf(Deviation.class) : Set.of();
    }

    @Override
    public boolean connectsByAddresses() {
      return connect == ConnectMode.CONTROL;
    }
  }

  private Subject device() {
    return new DeviceOfThisMachine(connect());
  }

  @Nested
  class VerbsDevice extends DeviceContract {
    @Override
    protected Subject subject() {
      return device();
    }
  }

  @Nested
  class VerbsMemoryRegion extends MemoryRegionContract {
    @Override
    protected Subject subject() {
      return device();
    }
  }

  @Nested
  class VerbsRead extends ReadContract {
    @Override
    protected Subject subject() {
      return device();
    }
  }

  @Nested
  class VerbsScan extends ScanContract {
    @Override
    protected Subject subject() {
      return device();
    }
  }

  @Nested
  class VerbsError extends ErrorContract {
    @Override
    protected Subject subject() {
      return device();
    }
  }

  @Nested
  class VerbsCompletionQueue extends CompletionQueueContract {
    @Override
    protected Subject subject() {
      return device();
    }
  }

  @Nested
  class VerbsStateMachine extends StateMachineContract {
    @Override
    protected Subject subject() {
      return device();
    }
  }
}
