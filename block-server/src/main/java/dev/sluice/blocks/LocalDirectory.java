package dev.sluice.blocks;

import dev.sluice.rdma.transfer.Backoff;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory that map outputs lie in, with the form in which they are registered there. Where a
 * better form could not be tried out when the process started, it is tried again with the first map
 * output that is registered there, and from then on less and less often. Those who open map outputs
 * there ask it; it owns nothing.
 */
final class LocalDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDirectory.class);

  private final Path path;
  private final RegistrationMode mode;
  private final FormProbe probe;
  private final Backoff attempts = new Backoff();
  private FormProbe.Result found;

  /** Null until somebody counts. */
  private RegistryCounters counters;

  /** A directory of which the form is known; null where nothing is to be registered there. */
  LocalDirectory(Path path, RegistrationForm form) {
    this.path = path;
    mode = null;
    probe = null;
    found = new FormProbe.Result(form, true);
  }

  /**
   * Tries the directory out.
   *
   * @throws RegistrationUnavailableException when it refuses all forms that the mode requires one
   *     of, with what was tried
   */
  LocalDirectory(Path path, RegistrationMode mode, FormProbe probe)
      throws RegistrationUnavailableException {
    this.path = path;
    this.mode = mode;
    this.probe = probe;
    found = probe.bestForm(mode, path);
  }

  Path path() {
    return path;
  }

  /**
   * The form to register a map output in.
   *
   * @throws RegistrationUnavailableException when none of those that the mode allows works, or
   *     could be tried out yet
   */
  synchronized RegistrationForm form(long nowMs) throws RegistrationUnavailableException {
    if (!found.isConclusive() && attempts.isOver(nowMs)) {
      tryAgain(nowMs);
    }
    if (found.form() == null) {
      throw new RegistrationUnavailableException("no form of registration works in " + path);
    }
    return found.form();
  }

  private void tryAgain(long nowMs) {
    try {
      FormProbe.Result result = probe.bestForm(mode, path);
      if (result.form() != null || result.isConclusive()) {
        count(-1);
        found = result;
        count(1);
      }
    } catch (RegistrationUnavailableException e) {
      LOG.info("Map outputs in {} are registered, or not, as they were before", path, e);
    }
    attempts.failed(nowMs);
  }

  /** Whether map outputs there may be registered without pinning them, now or later. */
  boolean mayPageOnDemand() {
    return mode == RegistrationMode.ODP || found.form() == RegistrationForm.ON_DEMAND_MAPPING;
  }

  /** Counts the directory from now on. */
  synchronized void countIn(RegistryCounters counters) {
    this.counters = counters;
    count(1);
  }

  private void count(int directories) {
    if (counters != null && found.form() != null) {
      counters.add(found.form().directories(), directories);
    }
  }
}
