// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.Counters;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory of map outputs, with the form in which they are registered there. If it could not be
 * tried when the process started, or its disk did not answer, it is tried again with the first map
 * output that is registered there, and then less and less often. Called by the threads that open
 * map outputs there; owns nothing. The lock is held during a new trial: only map outputs of this
 * directory wait for a slow disk.
 */
final class LocalDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDirectory.class);

  private final Path path;

  /** Folder of the directory in which it is tried. */
  private final Path probed;

  /** Null, as the probe is, for a directory whose form is known. */
  private final @Nullable RegistrationMode mode;

  private final @Nullable RegistrationProbe probe;
  private final CircuitBreaker attempts = CircuitBreaker.backoff();

  /** Guarded by this; read without the lock before the registry is used. */
  private RegistrationProbe.Result found;

  /** Null until the directory is counted. Guarded by this. */
  private @Nullable Counters<RegistryCounter> counters;

  /** Creates a directory with a known form; null if nothing is to be registered there. */
  LocalDirectory(Path path, @Nullable RegistrationMethod form) {
    this.path = path;
    probed = path;
    mode = null;
    probe = null;
    found = new RegistrationProbe.Result(form, true);
  }

  /**
   * Creates a directory whose form is not known yet.
   *
   * @param probed folder of the directory in which files may be made
   */
  LocalDirectory(Path path, Path probed, RegistrationMode mode, RegistrationProbe probe) {
    this.path = path;
    this.probed = probed;
    this.mode = mode;
    this.probe = probe;
    found = new RegistrationProbe.Result(null, false);
  }

  /**
   * Tries the directory out.
   *
   * @throws RegistrationUnavailableException if the mode requires its form, and the directory
   *     refuses it; the message has the reason
   */
  synchronized void tryOut() throws RegistrationUnavailableException {
    found = requireNonNull(probe).form(requireNonNull(mode), probed);
  }

  Path path() {
    return path;
  }

  /**
   * Returns the form to register a map output in.
   *
   * @throws RegistrationUnavailableException if it does not work, or could not be tried yet
   */
  synchronized RegistrationMethod form(long nowMs) throws RegistrationUnavailableException {
    if (!found.isConclusive() && !attempts.isOpen(nowMs)) {
      tryAgain(nowMs);
    }
    if (found.form() == null) {
      throw new RegistrationUnavailableException("no form of registration works in " + path);
    }
    return found.form();
  }

  private void tryAgain(long nowMs) {
    try {
      tryOut();
      count();
    } catch (RegistrationUnavailableException e) {
      LOG.info("Probing {} again failed; map outputs there are staged as before", path, e);
    }
    attempts.failed(nowMs);
  }

  /** Returns true if map outputs there may be registered without pinning them, now or later. */
  boolean mayPageOnDemand() {
    return mode == RegistrationMode.ODP
        || mode == RegistrationMode.AUTO && !found.isConclusive()
        || found.form() == RegistrationMethod.ON_DEMAND_MAPPING;
  }

  /** Counts the directory from now on. */
  synchronized void countIn(Counters<RegistryCounter> counters) {
    this.counters = counters;
    count();
  }

  private void count() {
    if (counters != null && found.form() != null) {
      counters.add(found.form().directories(), 1);
    }
  }
}
