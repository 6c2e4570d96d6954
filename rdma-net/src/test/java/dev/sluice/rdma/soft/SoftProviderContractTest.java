package dev.sluice.rdma.soft;

import dev.sluice.rdma.Provider;
import dev.sluice.rdma.contract.AtomicContract;
import dev.sluice.rdma.contract.CompletionQueueContract;
import dev.sluice.rdma.contract.DeviceContract;
import dev.sluice.rdma.contract.ErrorContract;
import dev.sluice.rdma.contract.MemoryRegionContract;
import dev.sluice.rdma.contract.ReadContract;
import dev.sluice.rdma.contract.SendReceiveContract;
import dev.sluice.rdma.contract.StateMachineContract;
import dev.sluice.rdma.leak.LeakTracker;
import org.junit.jupiter.api.Nested;

/** The software provider does what every provider must do. */
class SoftProviderContractTest {

  private static Provider soft(LeakTracker tracker) {
    return new SoftProvider(SoftOptions.DEFAULT.withLeaks(tracker));
  }

  @Nested
  class SoftDevice extends DeviceContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }

  @Nested
  class SoftMemoryRegion extends MemoryRegionContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }

  @Nested
  class SoftRead extends ReadContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }

  @Nested
  class SoftSendReceive extends SendReceiveContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }

  @Nested
  class SoftAtomic extends AtomicContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }

  @Nested
  class SoftError extends ErrorContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }

  @Nested
  class SoftCompletionQueue extends CompletionQueueContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }

  @Nested
  class SoftStateMachine extends StateMachineContract {
    @Override
    protected Provider provider(LeakTracker tracker) {
      return soft(tracker);
    }
  }
}
