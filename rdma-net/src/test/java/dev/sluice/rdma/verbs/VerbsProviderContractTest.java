package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Provider;
import dev.sluice.rdma.RdmaDevices;
import dev.sluice.rdma.contract.AtomicContract;
import dev.sluice.rdma.contract.CompletionQueueContract;
import dev.sluice.rdma.contract.Deviation;
import dev.sluice.rdma.contract.DeviceContract;
import dev.sluice.rdma.contract.ErrorContract;
import dev.sluice.rdma.contract.MemoryRegionContract;
import dev.sluice.rdma.contract.ReadContract;
import dev.sluice.rdma.contract.SendReceiveContract;
import dev.sluice.rdma.contract.StateMachineContract;
import dev.sluice.rdma.leak.LeakTracker;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;

/** The verbs provider does what every provider must do, on a device of this machine. */
@NeedsRdmaDevice
class VerbsProviderContractTest {

  /** How the provider connects. */
  ConnectMode connect() {
    return ConnectMode.CONTROL;
  }

  private Provider verbs(LeakTracker tracker) {
    return new VerbsProvider(VerbsOptions.DEFAULT.withConnect(connect()).withLeaks(tracker));
  }

  private static InetAddress deviceAddress() {
    return RdmaDevices.address().orElseThrow();
  }

  /** All that are known are those of the kernel's soft-RoCE device. */
  private static Set<Deviation> deviationsOfTheDevice() {
    return RdmaDevices.isSoftRoce() ? EnumSet.allOf(Deviation.class) : Set.of();
  }

  @Nested
  class VerbsDevice extends DeviceContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }

  @Nested
  class VerbsMemoryRegion extends MemoryRegionContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }

  @Nested
  class VerbsRead extends ReadContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }

  @Nested
  class VerbsSendReceive extends SendReceiveContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }

  @Nested
  class VerbsAtomic extends AtomicContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }

  @Nested
  class VerbsError extends ErrorContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected boolean connectsByAddresses() {
      return connect() == ConnectMode.CONTROL;
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }

  @Nested
  class VerbsCompletionQueue extends CompletionQueueContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }

  @Nested
  class VerbsStateMachine extends StateMachineContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected boolean connectsByAddresses() {
      return connect() == ConnectMode.CONTROL;
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected Set<Deviation> deviations() {
      return deviationsOfTheDevice();
    }
  }
}
