// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.ibv.IbvEce;
import dev.sluice.verbs.ibv.IbvQp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enhanced connection establishment of one queue pair (ibv_query_ece(3), ibv_set_ece(3)): both
 * devices agree on options of their vendor. The connecting side offers the options of its device.
 * The accepting side sets the offer before RTR, and answers with the options that its device
 * accepted. The connecting side sets the answer. The connection uses no ECE if a device has no
 * options, if the vendors differ, or if the peer's release of Sluice lacks ECE. {@link
 * ControlHandshake} and {@link CmHandshake} each create one and call it under the queue pair's
 * lock. {@link CmAttempt} calls the static {@link #request} on the thread of {@link CmAgent}.
 */
final class Ece {
  static final IbvEce NONE = new IbvEce(0, 0, 0);

  private static final Logger LOG = LoggerFactory.getLogger(Ece.class);

  private final IbvQp queuePair;

  /** Options that the device supports. */
  private IbvEce offer = NONE;

  /** True if this side accepted the peer's offer. */
  private boolean taken;

  Ece(IbvQp queuePair) {
    this.queuePair = queuePair;
  }

  /** At INIT: the options of the device; {@link #NONE} for a device or a library without ECE. */
  IbvEce offer() {
    taken = false;
    try {
      offer = queuePair.queryEce();
    } catch (VerbsException e) {
      LOG.debug("{} is connected without ECE", queuePair, e);
      offer = NONE;
    }
    return offer;
  }

  /** On the accepting side, before RTR: takes the whole of the peer's offer or nothing. */
  void accept(IbvEce offered) {
    boolean common = offer.vendorId() != 0 && offered.vendorId() == offer.vendorId();
    try {
      set(common ? offered : NONE);
      taken = common;
    } catch (VerbsException e) {
      LOG.debug(
          "{} is connected without ECE, because the device refuses {}", queuePair, offered, e);
    }
  }

  /** On the accepting side, after RTR: the options that are in use. */
  IbvEce answer() throws VerbsException {
    return taken ? queuePair.queryEce() : NONE;
  }

  /**
   * Sets the answer, on the connecting side, before RTR.
   *
   * @throws VerbsException if the device refuses options that the peer already uses
   */
  void complete(IbvEce answered) throws VerbsException {
    try {
      set(answered);
    } catch (VerbsException e) {
      if (answered.options() != 0) {
        throw e;
      }
      LOG.debug("{} is connected without ECE", queuePair, e);
    }
  }

  /** Sets the options; 0 turns ECE off. */
  private void set(IbvEce options) throws VerbsException {
    if (offer.vendorId() != 0) {
      queuePair.setEce(options.vendorId() == 0 ? new IbvEce(offer.vendorId(), 0, 0) : options);
    }
  }

  /** Makes rdma_cm send the offer with the request, if librdmacm supports that. */
  static void request(RdmaCmId id, IbvEce offer) {
    if (offer.options() != 0) {
      try {
        id.setLocalEce(offer);
      } catch (VerbsException e) {
        LOG.debug("{} sends its request without ECE", id, e);
      }
    }
  }

  /** The offer or the answer that rdma_cm received; {@link #NONE} if librdmacm lacks ECE. */
  IbvEce receivedBy(RdmaCmId id) {
    try {
      return offer.vendorId() == 0 ? NONE : id.remoteEce();
    } catch (VerbsException e) {
      LOG.debug("{} is connected without ECE", queuePair, e);
      return NONE;
    }
  }
}
