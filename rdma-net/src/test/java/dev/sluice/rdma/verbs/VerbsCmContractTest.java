package dev.sluice.rdma.verbs;

/** Queue pairs that rdma_cm connects do what every provider's must do. */
class VerbsCmContractTest extends VerbsProviderContractTest {
  @Override
  ConnectMode connect() {
    return ConnectMode.CM;
  }
}
