// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.SendWorkRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * The work requests of one post. All posts of an engine reuse the same objects: as many as its
 * longest chain had, 56 bytes each. Engine thread only.
 */
final class WorkRequestChain {
  private final List<SendWorkRequest> made = new ArrayList<>();
  private final List<SendWorkRequest> requests = new ArrayList<>();

  void clear() {
    requests.clear();
  }

  int size() {
    return requests.size();
  }

  /** Appends a work request, to be set by the caller. */
  SendWorkRequest add() {
    if (requests.size() == made.size()) {
      made.add(new SendWorkRequest());
    }
    SendWorkRequest next = made.get(requests.size());
    requests.add(next);
    return next;
  }

  List<SendWorkRequest> requests() {
    return requests;
  }
}
