package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.rdma.ProtectionDomain;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directories that this process's map outputs lie in, each with the form in which they are
 * registered there. Whoever starts the process's parts makes it, before any map output is
 * registered; any thread reads it; it owns nothing.
 */
public final class LocalDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDirectories.class);

  private final Map<Path, RegistrationForm> forms;

  LocalDirectories(Map<Path, RegistrationForm> forms) {
    this.forms = new LinkedHashMap<>(forms);
  }

  /**
   * Finds each directory's best form, by registering a file of a page there as map outputs would
   * be: no table of kernels, devices and file systems knows it as well. A few system calls a
   * directory, and no file is left behind.
   *
   * @throws RegistrationUnavailableException when a directory has none of the forms that the mode
   *     allows, with what was tried
   */
  public static LocalDirectories probe(
      ProtectionDomain domain, RegistrationMode mode, Collection<Path> directories)
      throws RegistrationUnavailableException {
    Map<Path, RegistrationForm> forms = new LinkedHashMap<>();
    for (Path directory : directories) {
      forms.put(directory, probe(domain, mode, directory));
    }
    return new LocalDirectories(forms);
  }

  private static RegistrationForm probe(
      ProtectionDomain domain, RegistrationMode mode, Path directory)
      throws RegistrationUnavailableException {
    StringJoiner refusals = new StringJoiner("; ", ": ", "").setEmptyValue("");
    for (RegistrationForm form : mode.forms()) {
      try {
        tryOut(form, domain, directory);
        LOG.info(
            "Map outputs in {} are registered as {} (registration.mode is \"{}\"){}",
            directory,
            form,
            mode,
            refusals);
        return form;
      } catch (IOException e) {
        refusals.add(form + " cannot be registered there (" + e + ")");
      }
    }
    throw new RegistrationUnavailableException(
        "spark.shuffle.rdma.registration.mode is \"%s\", which does not work in %s%s"
            .formatted(mode, directory, refusals));
  }

  private static void tryOut(RegistrationForm form, ProtectionDomain domain, Path directory)
      throws IOException {
    if (form == RegistrationForm.COPY) {
      // What is registered then has nothing to do with the directory.
      return;
    }
    Path file = Files.createTempFile(directory, "sluice-probe-", ".data");
    try (Arena arena = Arena.ofShared()) {
      Files.write(file, new byte[(int) Cost.PAGE_BYTES]);
      try (DataFile data = DataFile.open(file, Cost.PAGE_BYTES, form)) {
        data.register(domain, arena).close();
      }
    } finally {
      Files.delete(file);
    }
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
