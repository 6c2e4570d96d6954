// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.PortChooser.PortRefusal;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Values that new queue pairs take from the port of a {@link VerbsDevice}. {@link VerbsProvider}
 * creates it. LID, GID and the indices of its tables may change while the device is open. Connected
 * queue pairs keep their values, and break if these are gone. Any thread reads them; only the
 * thread of the device's events changes them.
 */
final class CurrentPort {
  private static final Logger LOG = LoggerFactory.getLogger(CurrentPort.class);

  private final PortReader reader;
  private final PortChooser chooser;
  private volatile ChosenPort chosen;

  /** Reason why nothing can be connected at present; empty while connecting is possible. */
  private volatile String unusable = "";

  /**
   * @param chosen the choice of {@code chooser} among the ports that {@code reader} read
   */
  CurrentPort(PortReader reader, PortChooser chooser, ChosenPort chosen) {
    this.reader = reader;
    this.chooser = chooser;
    this.chosen = chosen;
  }

  /** The port as it last was when it could be used. */
  ChosenPort last() {
    return chosen;
  }

  boolean isUsable() {
    return unusable.isEmpty();
  }

  /**
   * @throws VerbsException ENETDOWN while peers cannot be reached through the port
   */
  ChosenPort usable() throws VerbsException {
    String reason = unusable;
    if (!reason.isEmpty()) {
      throw new VerbsException("use of " + chosen.port(), VerbsException.ENETDOWN, reason);
    }
    return chosen;
  }

  /** Marks the port as down. Connecting would wait in vain for the peer's address. */
  void down(String reason) {
    unusable = reason;
  }

  /** Prepares for new connections through a port before there are any. */
  interface Preparation {
    void of(ChosenPort next) throws VerbsException;
  }

  /** Chooses again, after an event. */
  void update(String event, Preparation preparation) {
    PortInfo port = chosen.port();
    try {
      ChosenPort next = chooser.choose(reader.read(port.number()));
      preparation.of(next);
      boolean changed = !isUsable() || !next.isSameWay(chosen);
      chosen = next;
      unusable = "";
      if (changed) {
        LOG.info("{}: {}: new queue pairs use {}", port, event, next.banner());
      }
    } catch (PortRefusal e) {
      refused(event, "the port " + e.getMessage());
    } catch (VerbsException e) {
      refused(event, "the port cannot be used: " + e.getMessage());
    }
  }

  private void refused(String event, String reason) {
    boolean first = isUsable();
    unusable = reason;
    if (first) {
      LOG.warn(
          "{}: {}: no new queue pairs connect until this is repaired: {}",
          chosen.port(),
          event,
          reason);
    }
  }
}
