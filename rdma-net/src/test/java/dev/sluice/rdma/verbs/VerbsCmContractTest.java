package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Provider;
import dev.sluice.rdma.RdmaDevices;
import dev.sluice.rdma.contract.AtomicContract;
import dev.sluice.rdma.contract.CompletionQueueContract;
import dev.sluice.rdma.contract.DeviceContract;
import dev.sluice.rdma.contract.ErrorContract;
import dev.sluice.rdma.contract.MemoryRegionContract;
import dev.sluice.rdma.contract.ReadContract;
import dev.sluice.rdma.contract.SendReceiveContract;
import dev.sluice.rdma.contract.StateMachineContract;
import dev.sluice.rdma.leak.LeakTracker;
import java.net.InetAddress;
import org.junit.jupiter.api.Nested;

/** Queue pairs that rdma_cm connects do what every provider's must do. */
@NeedsRdmaDevice
class VerbsCmContractTest {

  private static Provider verbs(LeakTracker tracker) {
    return new VerbsProvider(VerbsOptions.DEFAULT.withConnect(ConnectMode.CM).withLeaks(tracker));
  }

  private static InetAddress deviceAddress() {
    return RdmaDevices.address().orElseThrow();
  }

  @Nested
  class CmDevice extends DeviceContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }

  @Nested
  class CmMemoryRegion extends MemoryRegionContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }

  @Nested
  class CmRead extends ReadContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }

  @Nested
  class CmSendReceive extends SendReceiveContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }

  @Nested
  class CmAtomic extends AtomicContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }

  @Nested
  class CmError extends ErrorContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }

  @Nested
  class CmCompletionQueue extends CompletionQueueContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }

  @Nested
  class CmStateMachine extends StateMachineContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return verbs(tracker);
    }

    @Override
    protected InetAddress localAddress() {
      return deviceAddress();
    }

    @Override
    protected boolean connectsByAddresses() {
      return false;
    }
  }
}
