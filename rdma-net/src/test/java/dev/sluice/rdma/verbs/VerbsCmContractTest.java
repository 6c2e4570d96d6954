// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;

/** Runs the contract of all providers on queue pairs that rdma_cm connects. */
class VerbsCmContractTest extends VerbsProviderContractTest {
  @Override
  ConnectMode connect() {
    return ConnectMode.CM;
  }
}
