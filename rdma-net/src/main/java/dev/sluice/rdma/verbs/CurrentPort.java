package dev.sluice.rdma.verbs;

import dev.sluice.rdma.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What new queue pairs take from the port that a device was opened with: LID, GID and the indices
 * of its tables may change while it is in use. Those that are connected keep what they have, and
 * break where that has gone. Any thread asks, the thread of the device's events changes it.
 */
final class CurrentPort {
  private static final Logger LOG = LoggerFactory.getLogger(CurrentPort.class);

  private final PortReader reader;
  private final PortChooser chooser;
  private volatile ChosenPort chosen;

  /** Why nothing can be connected at present; empty while it can. */
  private volatile String unusable = "";

  /**
   * @param chosen by {@code chooser} of what {@code reader} read
   */
  CurrentPort(PortReader reader, PortChooser chooser, ChosenPort chosen) {
    this.reader = reader;
    this.chooser = chooser;
    this.chosen = chosen;
  }

  /** As it was when it could be used last. */
  ChosenPort last() {
    return chosen;
  }

  boolean isUsable() {
    return unusable.isEmpty();
  }

  /**
   * @throws VerbsException ENETDOWN while peers cannot be reached through it
   */
  ChosenPort usable() throws VerbsException {
    String reason = unusable;
    if (!reason.isEmpty()) {
      throw new VerbsException("use of " + chosen.port(), VerbsException.ENETDOWN, reason);
    }
    return chosen;
  }

  /** The port has gone down: what is to be connected waits in vain for the peer's address. */
  void down(String reason) {
    unusable = reason;
  }

  /** Makes ready for new connections through a port, before there are any. */
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
        LOG.info("{}: {}: from now on {}", port, event, next.banner());
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
      LOG.warn("{}: {}: nothing is connected any more, as {}", chosen.port(), event, reason);
    }
  }
}
