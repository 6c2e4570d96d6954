// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.transfer.Counters;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Local directories of a registry's map outputs, each with the form in which they are registered
 * there. An executor creates it at its start, a node daemon for each application that it begins to
 * serve. Any thread reads it; it owns nothing. A directory keeps its number: {@link Disks} and
 * lanes of staging are derived from it.
 */
public final class LocalDirectories {
  /**
   * Local directories of a map output's files.
   *
   * @param data number of the data file's directory, as {@link #indexOf}
   * @param index number of the index file's directory
   * @param checksums number of the checksum file's directory
   */
  public record Disks(int data, int index, int checksums) {}

  /** Prefix of the names of probe files. */
  public static final String PROBE = "sluice-probe-";

  private final List<LocalDirectory> directories;

  private LocalDirectories(List<LocalDirectory> directories) {
    this.directories = List.copyOf(directories);
  }

  public LocalDirectories(Map<Path, RegistrationMethod> forms) {
    this(
        forms.entrySet().stream()
            .map(entry -> new LocalDirectory(entry.getKey(), entry.getValue()))
            .toList());
  }

  /** Returns directories in which nothing is to be registered. */
  public static LocalDirectories unregistered(Collection<Path> directories) {
    return new LocalDirectories(
        directories.stream().map(directory -> new LocalDirectory(directory, null)).toList());
  }

  /**
   * Tries the mode's form out in each directory ({@link RegistrationProbe}).
   *
   * @param domain protection domain of the trials, those of later retries included
   * @throws RegistrationUnavailableException if the mode requires its form, and a directory refuses
   *     it; the message has the reason
   */
  public static LocalDirectories probe(
      ProtectionDomain domain, RegistrationMode mode, Collection<Path> directories)
      throws RegistrationUnavailableException {
    return probe(domain, mode, directories, directory -> directory, _ -> true);
  }

  /**
   * Tries the form out in a folder of each directory that answers. The others are tried with the
   * first map output there.
   *
   * @param folder returns a directory's folder, in which files may be made
   * @param answers returns true for a directory whose disk answers
   * @throws RegistrationUnavailableException as the other method
   */
  public static LocalDirectories probe(
      ProtectionDomain domain,
      RegistrationMode mode,
      Collection<Path> directories,
      UnaryOperator<Path> folder,
      Predicate<Path> answers)
      throws RegistrationUnavailableException {
    RegistrationProbe probe = new RegistrationProbe(domain, LoopbackRead::read);
    List<LocalDirectory> probed = new ArrayList<>();
    for (Path directory : directories) {
      LocalDirectory local = new LocalDirectory(directory, folder.apply(directory), mode, probe);
      if (answers.test(directory)) {
        local.tryOut();
      }
      probed.add(local);
    }
    return new LocalDirectories(probed);
  }

  /**
   * Result of a trial of a directory.
   *
   * @param registers true if map outputs there are registered, false if they are staged
   * @param isConclusive false if registering could not be tried, as for lack of memory
   * @param said the form, or the reason why there is none, in words
   */
  public record Trial(boolean registers, boolean isConclusive, String said) {}

  /**
   * Tries one directory out, for a caller that checks it and registers nothing there.
   *
   * @throws RegistrationUnavailableException as {@link #probe}
   */
  public static Trial tryOut(ProtectionDomain domain, RegistrationMode mode, Path directory)
      throws RegistrationUnavailableException {
    StringBuilder said = new StringBuilder();
    RegistrationProbe probe = new RegistrationProbe(domain, LoopbackRead::read, said::append);
    RegistrationProbe.Result found = probe.form(mode, directory);
    return new Trial(found.form() != null, found.isConclusive(), said.toString());
  }

  /**
   * Returns the form of a map output's data file.
   *
   * @throws InconsistentFilesException if the file lies in none of the directories
   * @throws RegistrationUnavailableException if no form works there or is wanted
   */
  public RegistrationMethod form(Path file, long nowMs)
      throws InconsistentFilesException, RegistrationUnavailableException {
    if (directories.isEmpty()) {
      throw new RegistrationUnavailableException("no local directory was probed for registration");
    }
    int index = indexOf(file);
    if (index == count()) {
      throw new InconsistentFilesException(
          file
              + " is in none of the local directories "
              + directories.stream().map(LocalDirectory::path).toList());
    }
    return directories.get(index).form(nowMs);
  }

  public int count() {
    return directories.size();
  }

  /** Returns the number of a file's directory, from 0 on; {@link #count} for a file elsewhere. */
  int indexOf(Path file) {
    int index = 0;
    while (index < directories.size() && !file.startsWith(directories.get(index).path())) {
      index++;
    }
    return index;
  }

  /** Returns the numbers, as {@link #indexOf}, of these files' directories; not empty. */
  public BitSet indexesOf(List<Path> files) {
    BitSet indexes =
        files.stream().mapToInt(this::indexOf).collect(BitSet::new, BitSet::set, BitSet::or);
    if (indexes.isEmpty()) {
      indexes.set(count());
    }
    return indexes;
  }

  /** Returns numbers for a map output's directories, so that later look-ups compare no paths. */
  public Disks disks(Path data, List<Path> table) {
    int first = table.isEmpty() ? count() : indexOf(table.getFirst());
    int last = table.isEmpty() ? count() : indexOf(table.getLast());
    return new Disks(indexOf(data), first, last);
  }

  public boolean mayPageOnDemand() {
    return directories.stream().anyMatch(LocalDirectory::mayPageOnDemand);
  }

  public void count(Counters<RegistryCounter> counters) {
    directories.forEach(directory -> directory.countIn(counters));
  }
}
