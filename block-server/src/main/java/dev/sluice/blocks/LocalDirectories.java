package dev.sluice.blocks;

import dev.sluice.rdma.ProtectionDomain;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The directories that this process's map outputs lie in, each with the form in which they are
 * registered there. Whoever starts the process's parts makes it, before any map output is
 * registered; any thread reads it; it owns nothing.
 */
public final class LocalDirectories {
  private final Map<Path, RegistrationForm> forms;

  LocalDirectories(Map<Path, RegistrationForm> forms) {
    this.forms = new LinkedHashMap<>(forms);
  }

  /**
   * Finds each directory's best form by trying it out there ({@link FormProbe}).
   *
   * @throws RegistrationUnavailableException when a directory has none of the forms that the mode
   *     allows, with what was tried
   */
  public static LocalDirectories probe(
      ProtectionDomain domain, RegistrationMode mode, Collection<Path> directories)
      throws RegistrationUnavailableException {
    FormProbe probe = new FormProbe(domain, LoopbackRead::read);
    Map<Path, RegistrationForm> forms = new LinkedHashMap<>();
    for (Path directory : directories) {
      forms.put(directory, probe.bestForm(mode, directory));
    }
    return new LocalDirectories(forms);
  }

  /** The form of a map output's data file. */
  RegistrationForm form(Path file) throws InconsistentFilesException {
    for (Map.Entry<Path, RegistrationForm> entry : forms.entrySet()) {
      if (file.startsWith(entry.getKey())) {
        return entry.getValue();
      }
    }
    throw new InconsistentFilesException(file + " lies in none of " + forms.keySet());
  }

  void count(RegistryCounters counters) {
    forms.values().forEach(form -> counters.add(form.directories(), 1));
  }
}
