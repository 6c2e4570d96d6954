// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

/** Runs the contract of all providers on queue pairs that rdma_cm connects. */
class VerbsCmContractTest extends VerbsProviderContractTest {
  @Override
  ConnectMode connect() {
    return ConnectMode.CM;
  }
}
